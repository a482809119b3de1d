import type { Action, Cluster } from "../../scripts/preflight/cluster.ts";

/** A cluster with these objects and lists, by path with or without query; `may` decides which actions it allows. */
export function clusterOf(
  content: Readonly<Record<string, object>>,
  may: (action: Action) => boolean = () => true,
): Cluster {
  return {
    get: async <T>(path: string) => (content[path] ?? content[withoutPaging(path)]) as T | undefined,
    allowed: async (actions) => actions.map(may),
  };
}

/** The path of a first page is that of the list. */
function withoutPaging(path: string): string {
  return path.replace(/[?&]limit=\d+$/, "");
}
