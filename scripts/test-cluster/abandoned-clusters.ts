import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { livingProcesses } from "../../test/support/process-tree.ts";
import { runClusterScript } from "../cluster/run-script.ts";

const prefix = "weir-cluster-of-";

/** A directory for a cluster of this run; its name identifies the owning process. */
export function ownDirectory(): string {
  const self = livingProcesses().find(({ pid }) => pid === process.pid);
  return join(tmpdir(), `${prefix}${process.pid}-${self?.startedAt ?? 0}`);
}

/** Takes down the clusters of runs that were killed before they could do so. */
export async function takeDownAbandoned(say: (line: string) => void): Promise<void> {
  const living = new Set(livingProcesses().map(({ pid, startedAt }) => `${prefix}${pid}-${startedAt}`));
  for (const name of readdirSync(tmpdir())) {
    if (!/^weir-cluster-of-\d+-\d+$/.test(name) || living.has(name)) continue;
    const directory = join(tmpdir(), name);
    say(`Taking down the cluster in ${directory}: the run that started it was killed`);
    await runClusterScript("down", ["--dir", directory], { apart: true });
  }
}
