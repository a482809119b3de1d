import type { Condition } from "../../api/schemas/function-status.ts";
import type { PublicSentence } from "../../api/public-sentence.ts";
import { publicFailure } from "./public-failure.ts";
import type { Backoff, ReplicaFailure } from "../replicas/reconcile-backoff.ts";

/** Facts that the conditions of one function are derived from. */
export interface ConditionFacts {
  /** Desired replicas. */
  readonly wanted: number;
  /** Ready replicas of any generation that get calls. */
  readonly ready: number;
  /** Ready replicas of the desired generation. */
  readonly readyCurrent: number;
  /** All replicas that exist, including stopping ones. */
  readonly existing: number;
  /** Replicas of other generations that exist. */
  readonly superseded: number;
  /** The last failures; undefined once a replica that was started after them is ready. */
  readonly backoff: Backoff | undefined;
  /** Why no replica can be started at all. */
  readonly blocked: ReplicaFailure | undefined;
  /** What a person has to act on although replicas run. */
  readonly attention?: ReplicaFailure | undefined;
  /** What a starting replica is waiting for: an image, for example. */
  readonly progress?: ReplicaFailure | undefined;
  /** No existing replica can become ready, and the next one is started only after a pause. */
  readonly backingOff?: boolean;
}

type Statement = Omit<Condition, "lastTransitionTime">;

/** Failures in a row from which a function counts as being in a crash loop, and as stalled. */
const crashLoop = 2;

/** Reason of `Stalled` while the queue of asynchronous calls is not declared: replicas run regardless. */
export const queueNotFound = "QueueNotFound";

/** Reason of `Stalled` while callbacks cannot be signed with the secret that the function names: replicas run regardless. */
export const callbackSecretUnusable = "CallbackSecretUnusable";

const besideReplicas: ReadonlySet<string> = new Set([queueNotFound, callbackSecretUnusable]);

/** Reason of `Reconciling` between two attempts to start a replica. */
const backingOffReason = "BackingOff";

/** Reasons of `Reconciling` and `Healthy` that a person has to act on: replicas run but do not become ready. */
const unreadyReasons: ReadonlySet<string> = new Set(["NotListening", "NotReady", "Unhealthy"]);

/** What a person has to act on. `stalled`: an attempt failed; `not-ready`: a replica runs but does not become ready. */
export interface Problem extends ReplicaFailure {
  readonly kind: "stalled" | "not-ready";
}

/** Why a function is not ready, if that is known and does not pass by itself. */
export function problemOf(conditions: readonly Condition[]): Problem | undefined {
  const stalled = conditions.find(({ type, status }) => type === "Stalled" && status === "True");
  if (stalled !== undefined) return { kind: "stalled", reason: stalled.reason, message: stalled.message };
  const unready = conditions.find(
    ({ type, status, reason }) =>
      unreadyReasons.has(reason) &&
      ((type === "Reconciling" && status === "True") || (type === "Healthy" && status === "False")),
  );
  return unready && { kind: "not-ready", reason: unready.reason, message: unready.message };
}

/**
 * Why no replica is ready. The message of a condition quotes logs, paths and addresses: only those with rights may read
 * it. `publicly` is for everybody else.
 */
export interface NotReady {
  readonly message: string;
  readonly publicly: PublicSentence;
}

/** Whether all desired replicas are ready, and no others exist. */
export function isSettled(conditions: readonly Condition[]): boolean {
  return conditions.some(({ type, status }) => type === "Reconciling" && status === "False");
}

/**
 * Why no replica can become ready for now: the last attempt failed, and the next one comes only after a pause.
 * Undefined while one is being started, or while no failure is known.
 */
export function finalFailure(conditions: readonly Condition[]): NotReady | undefined {
  const pauses = conditions.some(({ type, reason }) => type === "Reconciling" && reason === backingOffReason);
  return pauses ? whyStalled(conditions) : undefined;
}

/** Why no replica is ready, as far as the conditions say: why it is stalled, else what failed last or is awaited. */
export function whyNotReady(conditions: readonly Condition[]): NotReady | undefined {
  const stalled = whyStalled(conditions);
  if (stalled !== undefined) return stalled;
  const ready = conditions.find(({ type, status }) => type === "Ready" && status === "False")?.message ?? "";
  const [, message] = /^0 of \d+ replicas are ready: (.*)/s.exec(ready) ?? [];
  if (message === undefined) return undefined;
  // The message is that of one of these, whose reason says what it is about.
  const source = conditions.find((condition) => condition.type !== "Ready" && condition.message === message);
  return { message, publicly: publicFailure(source?.reason) };
}

/** Why replicas do not start; undefined when they do, or only something beside them needs attention. */
function whyStalled(conditions: readonly Condition[]): NotReady | undefined {
  const stalled = conditions.find(
    ({ type, status, reason }) => type === "Stalled" && status === "True" && !besideReplicas.has(reason),
  );
  return stalled && { message: stalled.message, publicly: publicFailure(stalled.reason) };
}

/**
 * Conditions Ready, Healthy, Reconciling and Stalled. `lastTransitionTime` is `now` (RFC 3339) where the status
 * differs from `previous`, else what it was.
 */
export function functionConditions(facts: ConditionFacts, previous: readonly Condition[], now: string): Condition[] {
  return [readyOf(facts), healthyOf(facts), reconcilingOf(facts), stalledOf(facts)].map((statement) => {
    const before = previous.find((condition) => condition.type === statement.type);
    return { ...statement, lastTransitionTime: before?.status === statement.status ? before.lastTransitionTime : now };
  });
}

function readyOf(facts: ConditionFacts): Statement {
  const { wanted, ready, readyCurrent, backoff, blocked, progress } = facts;
  if (wanted === 0) {
    return {
      type: "Ready",
      status: "True",
      reason: "ScaledToZero",
      message: "No replica is wanted; a call starts one",
    };
  }
  const counts = `${ready} of ${wanted} replicas ${ready === 1 ? "is" : "are"} ready`;
  const failure = blocked ?? progress ?? backoff?.last;
  // Where calls are served at all, it is by replicas of the previous deployment.
  const old = readyCurrent === 0 && failure !== undefined;
  const message = old ? `${counts}, of the previous deployment: ${failure.message}` : counts;
  if (ready >= wanted) return { type: "Ready", status: "True", reason: "ReplicasReady", message };
  if (ready > 0) return { type: "Ready", status: "True", reason: "SomeReplicasReady", message };
  return {
    type: "Ready",
    status: "False",
    reason: "NoReplicaReady",
    message: failure === undefined ? counts : `${counts}: ${failure.message}`,
  };
}

function healthyOf({ wanted, ready, existing, backoff }: ConditionFacts): Statement {
  if (backoff !== undefined) {
    return { type: "Healthy", status: "False", reason: failureReason(backoff), message: backoff.last.message };
  }
  if (wanted === 0 || existing === 0) {
    return { type: "Healthy", status: "Unknown", reason: "NothingRuns", message: "No replica runs" };
  }
  if (ready === 0) {
    const message = "No replica is ready: whether they work is not known";
    return { type: "Healthy", status: "Unknown", reason: "NothingReady", message };
  }
  return { type: "Healthy", status: "True", reason: "NoFailure", message: "No replica has failed" };
}

function reconcilingOf(facts: ConditionFacts): Statement {
  const { wanted, readyCurrent, existing, superseded, progress, backingOff } = facts;
  const settled = readyCurrent === wanted && existing === wanted;
  if (settled)
    return {
      type: "Reconciling",
      status: "False",
      reason: "Settled",
      message: "All desired replicas are ready, and no others exist",
    };
  if (progress !== undefined && readyCurrent < wanted) return { type: "Reconciling", status: "True", ...progress };
  if (backingOff === true && readyCurrent < wanted) {
    const message = "The next replica is started after a pause, as the last attempt failed";
    return { type: "Reconciling", status: "True", reason: backingOffReason, message };
  }
  const counts = `${readyCurrent} of ${wanted} new replicas are ready, ${superseded} old ones are left`;
  if (superseded > 0 && readyCurrent < wanted)
    return { type: "Reconciling", status: "True", reason: "Rolling", message: counts };
  return readyCurrent < wanted
    ? {
        type: "Reconciling",
        status: "True",
        reason: "Starting",
        message: `${readyCurrent} of ${wanted} replicas are ready`,
      }
    : {
        type: "Reconciling",
        status: "True",
        reason: "Stopping",
        message: `${existing} replicas exist, ${wanted} are wanted`,
      };
}

function stalledOf({ wanted, readyCurrent, backoff, blocked, attention }: ConditionFacts): Statement {
  if (blocked !== undefined) return { type: "Stalled", status: "True", ...blocked };
  if (backoff !== undefined && backoff.failures >= crashLoop && readyCurrent < wanted) {
    return { type: "Stalled", status: "True", reason: failureReason(backoff), message: backoff.last.message };
  }
  if (attention !== undefined) return { type: "Stalled", status: "True", ...attention };
  return { type: "Stalled", status: "False", reason: "Progressing", message: "Nothing is in the way" };
}

function failureReason({ failures, last }: Backoff): string {
  return failures >= crashLoop && last.reason === "Error" ? "CrashLoopBackOff" : last.reason;
}
