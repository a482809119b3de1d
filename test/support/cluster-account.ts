import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { TestCluster } from "./test-cluster.ts";

/**
 * Flags with which a process of the platform connects to the cluster as an existing service account. The account's
 * files lie below `directory`, as they are mounted in a pod.
 */
export async function flagsAsAccount(
  cluster: TestCluster,
  account: { readonly name: string; readonly namespace: string },
  directory: string,
): Promise<readonly string[]> {
  const mounted = join(directory, `account-${account.name}`);
  const { token } = await cluster.account(account.name, account.namespace);
  await mkdir(mounted, { recursive: true });
  for (const [file, content] of [
    ["token", token],
    ["ca.crt", cluster.ca],
    ["namespace", account.namespace],
  ] as const)
    await writeFile(join(mounted, file), content, { mode: 0o600 });
  const { hostname, port } = new URL(cluster.server);
  return [
    "--provider=kubernetes",
    `--kubernetes-host=${hostname}`,
    `--kubernetes-port=${port || "443"}`,
    `--service-account-dir=${mounted}`,
  ];
}
