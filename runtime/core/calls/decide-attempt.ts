import { publicly, type PublicSentence } from "../../api/public-sentence.ts";
import { pickReplica, type ReadyReplica, type ReplicaChoice } from "../replicas/pick-replica.ts";

/** A replica that refused the connection, so that it received nothing of the call. */
export interface RefusedAttempt {
  readonly replica: ReadyReplica | undefined;
  /** Connections of this call that were refused earlier. */
  readonly before: number;
  /** Whether the call can be sent again unchanged: its body is complete, and the client still waits for the reply. */
  readonly repeatable: boolean;
}

/** What to do with a call that is to be sent. */
export type AttemptDecision =
  | { readonly kind: "send"; readonly replica: ReadyReplica }
  /** No replica is ready: wake the function, then decide again, without the refusal. */
  | { readonly kind: "wait" }
  /** Every ready replica is at its limit; `state` is the end of the error sentence. */
  | { readonly kind: "busy"; readonly state: PublicSentence }
  /** Not retried: the refusal is the outcome. */
  | { readonly kind: "dead-letter" };

const wait: AttemptDecision = { kind: "wait" };
const giveUp: AttemptDecision = { kind: "dead-letter" };

/**
 * Where a call goes next: to the ready replica with the fewest calls. After a refusal it is retried once, at another
 * replica only. `concurrencyMax` limits the calls per replica, 0 = no limit.
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
  return { kind: "busy", state: publicly`all ${ready} ready replicas are at concurrency.max of ${concurrencyMax}` };
}
