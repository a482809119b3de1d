/** Why a replica of a function ended or could not start: a word in CamelCase and a sentence. */
export interface ReplicaFailure {
  readonly reason: string;
  readonly message: string;
}

/** Reason of a replica that ended because its container engine did: no failure of the function, no start waits for it. */
export const engineRestarted = "EngineRestarted";

/** How long a function's next start waits. Times are Unix milliseconds. */
export interface Backoff {
  /** Failures in a row. */
  readonly failures: number;
  readonly until: number;
  readonly last: ReplicaFailure;
}

const firstDelay = 500;
const longestDelay = 30_000;
/** A replica that was ready this long counts as working. */
const healthyAfter = 60_000;

/**
 * The back-off after a further failure: 0.5, 1, 2, 4, … 30 s, each × random 0.75 to 1 (`jitter` from 0 to 1); it starts
 * over when the failed replica had been ready for `readyFor` ≥ 60 s. A back-off that has not ended is not prolonged.
 */
export function backOffRestart(
  previous: Backoff | undefined,
  failure: ReplicaFailure,
  facts: { readonly now: number; readonly readyFor: number; readonly jitter: number },
): Backoff {
  if (previous !== undefined && facts.now < previous.until) return { ...previous, last: failure };
  const failures = facts.readyFor >= healthyAfter ? 1 : (previous?.failures ?? 0) + 1;
  const delay = Math.min(firstDelay * 2 ** (failures - 1), longestDelay) * (0.75 + 0.25 * facts.jitter);
  return { failures, until: facts.now + Math.round(delay), last: failure };
}
