import type { Cluster } from "./cluster.ts";
import { ok, problem, type Finding } from "./finding.ts";

/** Rules in definitions and admission policies are needed (Kubernetes 1.30). */
const oldest = 30;

/** Whether the API server responds, and is new enough. */
export async function checkVersion(cluster: Cluster): Promise<Finding[]> {
  const version = await cluster.get<{ readonly major: string; readonly minor: string; readonly gitVersion: string }>(
    "/version",
  );
  if (version === undefined) return [problem("the API server does not say its version", "is it one of Kubernetes?")];
  const minor = Number.parseInt(version.minor, 10);
  if (version.major === "1" && minor < oldest)
    return [problem(`Kubernetes ${version.gitVersion} is too old`, `1.${oldest} or newer is needed`)];
  return [ok(`Kubernetes ${version.gitVersion}; 1.${oldest} or newer is needed`)];
}
