import type { KubeClient, ListQuery } from "./client.ts";
import { apiVersionOf, type Kind, type Place } from "./kinds.ts";
import { isGone } from "./kube-refusal.ts";
import type { KubeOptions } from "./kube-requests.ts";
import type { KubeObject } from "./kube-types.ts";

/** All objects of one moment, and which moment that is. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** Objects asked for at once. */
const pageSize = 500;
const mostRounds = 3;

/**
 * All objects of a kind, of one namespace or of all, read in pages and each made into what `keep` leaves of it. Pages
 * that the server has forgotten are read again from the first, twice at most. Throws as the client does.
 */
export async function listObjects<T extends KubeObject, K = T>(
  client: KubeClient,
  kind: Kind,
  query: ListQuery & Pick<Place, "namespace"> & { readonly pageSize?: number },
  keep: (object: T) => K,
  options?: KubeOptions,
): Promise<ObjectList<K>> {
  const { namespace, pageSize: limit = pageSize, ...selectors } = query;
  const place = namespace === undefined ? {} : { namespace };
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  for (let round = 1; ; round += 1) {
    let next = "";
    try {
      const items: K[] = [];
      for (;;) {
        const from = next === "" ? {} : { continue: next };
        const page = await client.listPage<T>(kind, place, { ...selectors, limit, ...from }, options);
        // As in a watch: there each object says what it is, here the list does.
        for (const item of page.items) items.push(keep({ ...type, ...item }));
        next = page.metadata.continue ?? "";
        if (next === "") return { items, resourceVersion: page.metadata.resourceVersion ?? "" };
      }
    } catch (err) {
      if (!isGone(err) || next === "" || round >= mostRounds) throw err;
    }
  }
}
