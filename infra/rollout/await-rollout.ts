import { setTimeout as pause } from "node:timers/promises";

import type { KubernetesObject } from "../manifests/kubernetes-object.ts";
import { isWorkload } from "../components/stages.ts";
import { CannotAskError } from "./cluster-look.ts";
import { decideImages } from "./decide-images.ts";
import { decideRollout, type RolloutDecision, type Workload } from "./decide-rollout.ts";
import { decideSettled } from "./decide-settled.ts";

/** How a rollout is awaited; milliseconds. */
export interface RolloutWait {
  /** Reads the object as the cluster has it now. */
  readonly look: () => Promise<Workload | undefined>;
  /** Reads the pods of a workload: only they report that an image cannot be pulled. */
  readonly lookAtPods?: (live: Workload) => Promise<readonly Workload[]>;
  readonly within: number;
  readonly every?: number;
  readonly now?: () => number;
}

/** Milliseconds for which a failure that is tried again may last: longer than until the second attempt. */
const longestFailing = 15_000;

/**
 * Resolves when the last change of an object is out: all pods of a workload are of the desired version and available, or
 * the platform's conditions of its own object say so. A failed read counts as "not yet".
 * @throws Error with a sentence that says what is missing: at once when waiting does not help, else after `within`
 */
export async function awaitRollout(wanted: KubernetesObject, wait: RolloutWait): Promise<void> {
  const { within, every = 1_000, now = () => performance.now() } = wait;
  const { kind, metadata } = wanted;
  const cannot = `Cannot continue after ${kind} "${metadata.name}" in "${metadata.namespace ?? ""}"`;
  const end = now() + within;
  let failingSince: number | undefined;
  for (;;) {
    const rollout = await decide(wanted, wait);
    if (rollout.kind === "done") return;
    if (rollout.kind === "failed") throw new Error(`${cannot}: ${rollout.because}`);
    failingSince = rollout.kind === "failing" ? (failingSince ?? now()) : undefined;
    if (failingSince !== undefined && now() - failingSince >= longestFailing)
      throw new Error(`${cannot}: ${rollout.because}`);
    if (now() >= end) throw new Error(`${cannot}: ${rollout.because} after ${Math.round(within / 1_000)} s`);
    await pause(every);
  }
}

async function decide(wanted: KubernetesObject, { look, lookAtPods }: RolloutWait): Promise<RolloutDecision> {
  try {
    const live = await look();
    if (!isWorkload(wanted)) return decideSettled(wanted, live);
    const rollout = decideRollout(wanted, live);
    if (rollout.kind !== "under-way" || live === undefined || lookAtPods === undefined) return rollout;
    return decideImages(wanted, await lookAtPods(live)) ?? rollout;
  } catch (err) {
    return {
      kind: err instanceof CannotAskError ? "failed" : "under-way",
      because: `the cluster does not reply: ${err instanceof Error ? err.message : String(err)}`,
    };
  }
}
