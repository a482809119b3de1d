import type { TestCluster } from "./test-cluster.ts";

const metric = /^apiserver_longrunning_requests\{[^}]*verb="WATCH"[^}]*\} (\S+)$/gm;

/** Open watches of all clients, as the API server counts them. */
export async function watchesOf(cluster: TestCluster): Promise<number> {
  const text = await cluster.kubectl(["get", "--raw=/metrics"], { namespace: null });
  return [...text.matchAll(metric)].reduce((sum, [, value]) => sum + Number(value), 0);
}
