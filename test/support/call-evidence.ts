import type { ClusterPlatform } from "./cluster-platform.ts";

const parts = ["queue-worker", "queue-doctor", "gateway", "nats"];

/** What tells afterwards why a queued call did not come to its end: its looks, its queue, the pods and their last lines. */
export async function callEvidence(
  { cluster, namespace, url, authorization }: ClusterPlatform,
  looks: readonly string[],
): Promise<string> {
  const kubectl = (...args: readonly string[]): Promise<string> => cluster.kubectl(args, { namespace }).catch(String);
  const queues = fetch(`${url}/system/queues`, { headers: { authorization }, signal: AbortSignal.timeout(10_000) });
  const logs = parts.map(async (part) => {
    const lines = await kubectl("logs", "--selector", `app.kubernetes.io/name=${part}`, "--tail=30", "--prefix");
    return `${part}:\n${lines}`;
  });
  const found = await Promise.all([
    queues.then((answer) => answer.text()).catch(String),
    kubectl("get", "pods", "--output=wide"),
    ...logs,
  ]);
  return [...looks.slice(0, 2), "…", ...looks.slice(-2), ...found].join("\n");
}
