import type { Replica } from "../ports/replicas.ts";

/** Facts about one replica. */
export interface ReplicaFacts {
  readonly id: string;
  readonly generation: number;
  readonly state: Replica["state"];
  /** It passes its readiness probe. */
  readonly ready: boolean;
  /** It failed its health probe too often. */
  readonly unhealthy: boolean;
  /** It gets no new calls any more. */
  readonly retired: boolean;
  /** When endpoints without it were published, Unix milliseconds; undefined = not yet. */
  readonly unpublishedAt: number | undefined;
}

/** Facts for the decision on one function. Times are Unix milliseconds. */
export interface ReconcileFacts {
  /** Undefined when the function was removed. */
  readonly wanted: { readonly replicas: number; readonly generation: number } | undefined;
  /** Oldest first. */
  readonly replicas: readonly ReplicaFacts[];
  /** No replica is started before this time. */
  readonly startAfter: number;
  /** Two replicas of this function cannot run at the same time: they would use the same port. */
  readonly exclusive: boolean;
  readonly now: number;
  /** Milliseconds between the publishing of endpoints without a replica and its stop. */
  readonly drain: number;
}

/** One thing to do, and why. `retire`: publish endpoints without the replica, so that it gets no new calls. */
export type ReconcileAction =
  | { readonly action: "start"; readonly count: number; readonly because: "missing" | "superseding" }
  | {
      readonly action: "retire";
      readonly id: string;
      readonly because: "removed" | "surplus" | "superseded" | "unhealthy";
    }
  | { readonly action: "stop"; readonly id: string; readonly because: "ended" | "drained" | "without-calls" }
  | { readonly action: "wait"; readonly until: number; readonly because: "draining" | "backing-off" };

/**
 * What to do now to reach `wanted` without a failed call. Replicas of a new generation are started beside the old ones,
 * at most one more than desired; an old one leaves the endpoints once enough others are ready, and is stopped `drain`
 * milliseconds after that was published. Exclusive functions are stopped first and then started.
 */
export function decideReconcile(facts: ReconcileFacts): readonly ReconcileAction[] {
  const actions: ReconcileAction[] = [];
  const retire = (replica: ReplicaFacts, because: (ReconcileAction & { action: "retire" })["because"]): void => {
    actions.push({ action: "retire", id: replica.id, because });
  };
  const live = facts.replicas.filter(isLive);
  actions.push(...endings(facts));
  const { wanted } = facts;
  if (wanted === undefined) {
    for (const replica of live) retire(replica, "removed");
    return actions;
  }

  for (const replica of live) if (replica.unhealthy) retire(replica, "unhealthy");
  const healthy = live.filter((replica) => !replica.unhealthy);
  const current = healthy.filter((replica) => replica.generation === wanted.generation);
  const old = healthy.filter((replica) => replica.generation !== wanted.generation);

  const surplus = byUsefulness(current).slice(wanted.replicas);
  for (const replica of surplus) retire(replica, "surplus");
  const kept = current.length - surplus.length;

  const superseded = supersededOf(facts, wanted.replicas, current, old);
  for (const replica of superseded) retire(replica, "superseded");

  const remaining = old.length - superseded.length;
  // While old ones remain, there may be one more than desired.
  const count = wanted.replicas - kept - Math.max(0, remaining - 1);
  const blocked =
    facts.exclusive && facts.replicas.some((replica) => replica.generation !== wanted.generation || replica.retired);
  if (count <= 0 || blocked) return actions;
  if (facts.now < facts.startAfter) actions.push({ action: "wait", until: facts.startAfter, because: "backing-off" });
  else actions.push({ action: "start", count, because: old.length > 0 ? "superseding" : "missing" });
  return actions;
}

function isLive(replica: ReplicaFacts): boolean {
  return !replica.retired && (replica.state === "starting" || replica.state === "running");
}

/** Ended replicas are removed; retired ones are stopped when no call can reach them any more. */
function endings({ replicas, now, drain }: ReconcileFacts): ReconcileAction[] {
  const actions: ReconcileAction[] = [];
  for (const { id, state, retired, unpublishedAt } of replicas) {
    if (state === "exited") {
      actions.push({ action: "stop", id, because: "ended" });
    } else if (retired && state === "starting") {
      actions.push({ action: "stop", id, because: "without-calls" });
    } else if (retired && state === "running" && unpublishedAt !== undefined) {
      if (unpublishedAt + drain <= now) actions.push({ action: "stop", id, because: "drained" });
      else actions.push({ action: "wait", until: unpublishedAt + drain, because: "draining" });
    }
  }
  return actions;
}

/** Old replicas that can be retired: those not ready, and as many ready ones as ready new ones replace. */
function supersededOf(
  { exclusive }: ReconcileFacts,
  wanted: number,
  current: readonly ReplicaFacts[],
  old: readonly ReplicaFacts[],
): readonly ReplicaFacts[] {
  if (wanted === 0 || exclusive) return old;
  const serving = old.filter((replica) => replica.ready);
  const readyNow = current.filter((replica) => replica.ready).length + serving.length;
  return [...old.filter((replica) => !replica.ready), ...serving.slice(0, Math.max(0, readyNow - wanted))];
}

/** Ready ones first, then the oldest. */
function byUsefulness(replicas: readonly ReplicaFacts[]): readonly ReplicaFacts[] {
  return [...replicas].sort((a, b) => Number(b.ready) - Number(a.ready));
}
