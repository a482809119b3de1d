import type { KubeClient, ListQuery } from "./client.ts";
import { apiVersionOf, type Kind, type Place } from "./kinds.ts";
import { isGone } from "./kube-refusal.ts";
import type { KubeOptions } from "./kube-requests.ts";
import type { KubeList, KubeObject } from "./kube-types.ts";

/** All objects of one moment, and which moment that is. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** Objects asked for at once: many kinds are read at the same time, and each page is held as a whole. */
const pageSize = 250;
/** However often an API server was late. */
export const smallestPage = 50;
const mostRounds = 3;

/**
 * All objects of a kind, of one namespace or of all, read in pages and each made into what `keep` leaves of it. Pages
 * that the server has forgotten are read again from the first, twice at most. One that comes too late, after others that
 * came, is asked again as smaller ones: a busy server would never come to the last. Throws as the client does.
 */
export async function listObjects<T extends KubeObject, K = T>(
  client: KubeClient,
  kind: Kind,
  query: ListQuery & Pick<Place, "namespace"> & { readonly pageSize?: number },
  keep: (object: T) => K,
  options?: KubeOptions,
): Promise<ObjectList<K>> {
  const { namespace, pageSize: largest = pageSize, ...selectors } = query;
  const place = namespace === undefined ? {} : { namespace };
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  for (let round = 1; ; round += 1) {
    let [next, limit] = ["", largest];
    const ask = async (again = options?.again ?? false): Promise<KubeList<T>> => {
      const from = next === "" ? {} : { continue: next };
      try {
        return await client.listPage<T>(kind, place, { ...selectors, limit, ...from }, { ...options, again });
      } catch (err) {
        if (next === "" || limit <= smallestPage || !isLate(err)) throw err;
        limit = Math.ceil(limit / 2);
        return ask(true);
      }
    };
    try {
      const items: K[] = [];
      for (;;) {
        const page = await ask();
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

/** The API server is there, and took too long. */
function isLate(err: unknown): boolean {
  return err instanceof Error && err.cause instanceof DOMException && err.cause.name === "TimeoutError";
}
