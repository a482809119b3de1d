import { pickReplica, type ReadyReplica, type ReplicaChoice } from "../replicas/pick-replica.ts";

/** A replica that took no connection, so that it has seen nothing of the call. */
export interface RefusedAttempt {
  readonly replica: ReadyReplica | undefined;
  /** Connections of this call that were refused before that one. */
  readonly before: number;
  /** Whether the call can be sent again as it was: its body is whole, and somebody still waits for the reply. */
  readonly repeatable: boolean;
}

/** What follows for a call that is to be sent. */
export type AttemptDecision =
  | { readonly kind: "send"; readonly replica: ReadyReplica }
  /** No replica is ready: the function is woken, and then it is decided anew, without the refusal. */
  | { readonly kind: "wait" }
  /** Every replica has as many calls as it may; `state` says so. */
  | { readonly kind: "busy"; readonly state: string }
  /** The refusal stands. */
  | { readonly kind: "dead-letter" };

const wait: AttemptDecision = { kind: "wait" };
const giveUp: AttemptDecision = { kind: "dead-letter" };

/**
 * Where a call goes next: to the ready replica with the fewest calls. After a refusal it is tried once more, and only
 * elsewhere. `concurrencyMax` is the most calls of a replica, 0 = no limit.
 */
export function decideAttempt(
  choice: ReplicaChoice,
  concurrencyMax: number,
  refused?: RefusedAttempt,
): AttemptDecision {
  if (refused !== undefined && (refused.before > 0 || !refused.repeatable)) return giveUp;
  const replica = pickReplica(choice, concurrencyMax, refused?.replica);
  if (replica !== undefined) return { kind: "send", replica };
  const { length: ready } = choice.replicas;
  if (ready === 0) return wait;
  if (refused !== undefined) return giveUp;
  return { kind: "busy", state: `all ${ready} ready replicas are at concurrency.max of ${concurrencyMax}` };
}
