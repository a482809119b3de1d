import type { KubeClient, ListQuery } from "./client.ts";
import { apiVersionOf, type Kind, type Place } from "./kinds.ts";
import { isGone } from "./kube-refusal.ts";
import type { KubeOptions } from "./kube-requests.ts";
import type { KubeList, KubeObject } from "./kube-types.ts";

/** All objects at one resource version. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** Objects per request: many kinds are read at the same time, and each page is held in memory as a whole. */
const pageSize = 250;
/** Lower bound of a page, however often the API server was late. */
export const smallestPage = 50;
const maxRounds = 3;

/**
 * All objects of a kind, of one namespace or of all, read in pages; `keep` says what is kept of each. When the next
 * page has expired, all are read again from the first one, twice at most. A later page that times out is requested
 * again with half the size, as a busy server might never get to the last. Throws as the client does.
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
        // As in a watch, where each object carries its type; in a list only the list does.
        for (const item of page.items) items.push(keep({ ...type, ...item }));
        next = page.metadata.continue ?? "";
        if (next === "") return { items, resourceVersion: page.metadata.resourceVersion ?? "" };
      }
    } catch (err) {
      if (!isGone(err) || next === "" || round >= maxRounds) throw err;
    }
  }
}

/** Whether the API server was reached but took too long. */
function isLate(err: unknown): boolean {
  return err instanceof Error && err.cause instanceof DOMException && err.cause.name === "TimeoutError";
}
