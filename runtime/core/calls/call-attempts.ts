import type { CallAttempt } from "./call-entry.ts";

/** Newest attempts that a record keeps in addition to the first one. */
const lastKept = 19;
/** Attempts that may have a longer error; then bytes of JSON that the error of these, and of older ones, may take. */
const newestCount = 4;
const newestErrorBytes = 256;
const olderErrorBytes = 64;
/** Bytes of JSON that the name of a replica may take: that of the longest function name fits. */
export const maxReplicaBytes = 80;
/** Bytes of JSON that all attempts of a record may take. */
const maxListBytes = 3_400;

/** What is left of an attempt, by its age: the newest has age 0. */
type Trim = (attempt: CallAttempt, age: number) => CallAttempt;

/** From the usual one to the one whose attempts always fit. */
const trims: readonly Trim[] = [
  (attempt, age) => shortened(attempt, age < newestCount ? newestErrorBytes : olderErrorBytes),
  (attempt, age) => (age < newestCount ? attempt : withoutPlace(attempt)),
  (attempt, age) => (age < newestCount ? attempt : withoutError(attempt)),
  (attempt, age) => (age === 0 ? attempt : shortened(attempt, olderErrorBytes)),
];

/**
 * The attempts that a record keeps, so that its size is bounded: the first and the last 19, with errors truncated. If
 * they are still too long, the older ones lose where they ran, then their errors.
 */
export function boundedAttempts(attempts: readonly CallAttempt[]): readonly CallAttempt[] {
  const [first, ...others] = attempts;
  if (first === undefined) return attempts;
  let kept = [first, ...others.slice(-lastKept)];
  for (const trim of trims) {
    kept = kept.map((attempt, index) => trim(attempt, kept.length - 1 - index));
    if (kept.length <= newestCount || Buffer.byteLength(JSON.stringify(kept)) <= maxListBytes) break;
  }
  return kept;
}

function shortened(attempt: CallAttempt, mostBytes: number): CallAttempt {
  return attempt.error === undefined ? attempt : { ...attempt, error: shortError(attempt.error, mostBytes) };
}

function withoutPlace(attempt: CallAttempt): CallAttempt {
  const { worker: _worker, replica: _replica, coldStart: _coldStart, next: _next, ...others } = attempt;
  return others;
}

function withoutError(attempt: CallAttempt): CallAttempt {
  const { error: _, ...others } = attempt;
  return others;
}

/** `error` in at most `maxBytes` bytes of JSON, with an ellipsis if it was truncated. */
export function shortError(error: string, maxBytes: number = newestErrorBytes): string {
  if (jsonBytes(error) <= maxBytes) return error;
  let short = "";
  // By code points: half of a surrogate pair is not valid text.
  for (const character of error) {
    if (jsonBytes(short + character) + ellipsisBytes > maxBytes) break;
    short += character;
  }
  return `${short}…`;
}

const ellipsisBytes = Buffer.byteLength("…");

/** Length in the JSON of a record, where quotes and control characters take more bytes. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
