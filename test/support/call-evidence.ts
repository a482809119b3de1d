import type { ClusterPlatform } from "./cluster-platform.ts";

const parts = ["queue-worker", "queue-doctor", "gateway", "nats"];

/** Diagnostics for a queued call that did not end: its observed states, its queue, the pods, their last log lines. */
export async function callEvidence(
  { cluster, namespace, url, authorization }: ClusterPlatform,
  observed: readonly string[],
): Promise<string> {
  const kubectl = (...args: readonly string[]): Promise<string> => cluster.kubectl(args, { namespace }).catch(String);
  const queues = fetch(`${url}/system/queues`, { headers: { authorization }, signal: AbortSignal.timeout(10_000) });
  const logs = parts.map(async (part) => {
    const lines = await kubectl("logs", "--selector", `app.kubernetes.io/name=${part}`, "--tail=30", "--prefix");
    return `${part}:\n${lines}`;
  });
  const found = await Promise.all([
    queues.then((response) => response.text()).catch(String),
    kubectl("get", "pods", "--output=wide"),
    ...logs,
  ]);
  return [...observed.slice(0, 2), "…", ...observed.slice(-2), ...found].join("\n");
}
