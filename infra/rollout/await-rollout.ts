import { setTimeout as pause } from "node:timers/promises";

import type { KubernetesObject } from "../manifests/kubernetes-object.ts";
import { CannotAskError } from "./cluster-look.ts";
import { decideRollout, type Workload } from "./decide-rollout.ts";

/** How a rollout is awaited; milliseconds. */
export interface RolloutWait {
  /** Reads the object as the cluster has it now. */
  readonly look: () => Promise<Workload | undefined>;
  readonly within: number;
  readonly every?: number;
  readonly now?: () => number;
}

/**
 * Resolves when all pods of a workload are of the desired version and available. A failed read counts as "not yet".
 * @throws Error with a sentence that says what is missing: at once when waiting does not help, else after `within`
 */
export async function awaitRollout(wanted: KubernetesObject, wait: RolloutWait): Promise<void> {
  const { look, within, every = 1_000, now = () => performance.now() } = wait;
  const { kind, metadata } = wanted;
  const cannot = `Cannot continue after ${kind} "${metadata.name}" in "${metadata.namespace ?? ""}"`;
  const end = now() + within;
  for (;;) {
    const rollout = await look().then(
      (live) => decideRollout(wanted, live),
      (err: unknown) => ({
        kind: err instanceof CannotAskError ? ("failed" as const) : ("under-way" as const),
        because: `the cluster does not reply: ${err instanceof Error ? err.message : String(err)}`,
      }),
    );
    if (rollout.kind === "done") return;
    if (rollout.kind === "failed") throw new Error(`${cannot}: ${rollout.because}`);
    if (now() >= end) throw new Error(`${cannot}: ${rollout.because} after ${Math.round(within / 1_000)} s`);
    await pause(every);
  }
}
