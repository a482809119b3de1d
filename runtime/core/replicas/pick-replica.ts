/** A replica that takes calls. */
export interface ReadyReplica {
  /** `host:port`, or `unix:` and a path. */
  readonly address: string;
  /** As its log has it; the address while that is not known. */
  name: string;
  /** Calls of this process in flight there; the sender of a call increments it, and decrements it at the end. */
  inFlight: number;
}

/** What a pick needs: the replicas, and where the last pick ended. */
export interface ReplicaChoice {
  readonly replicas: readonly ReadyReplica[];
  /** Index at which the next search begins, so that equals take turns. */
  turn: number;
}

/**
 * The replica with the fewest calls in flight; equals take turns. Undefined when there is none, none below
 * `concurrencyMax` (0 = no limit), or only `except`.
 */
export function pickReplica(
  choice: ReplicaChoice,
  concurrencyMax = 0,
  except?: ReadyReplica,
): ReadyReplica | undefined {
  const { replicas } = choice;
  const count = replicas.length;
  const limit = concurrencyMax > 0 ? concurrencyMax : Number.POSITIVE_INFINITY;
  let best: ReadyReplica | undefined;
  let bestIndex = 0;
  for (let step = 0, index = choice.turn; step < count; step += 1, index += 1) {
    if (index >= count) index = 0;
    const replica = replicas[index];
    if (replica === undefined || replica === except || replica.inFlight >= limit) continue;
    if (best === undefined || replica.inFlight < best.inFlight) {
      best = replica;
      bestIndex = index;
      if (replica.inFlight === 0) break;
    }
  }
  if (best !== undefined) choice.turn = bestIndex + 1;
  return best;
}
