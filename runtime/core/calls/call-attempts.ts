import type { CallAttempt } from "./call-entry.ts";

/** Newest attempts that a record keeps in addition to the first one. */
const lastKept = 19;
/** Attempts that may have a longer error; then bytes of JSON that the error of these, and of older ones, may take. */
const newestCount = 4;
const newestErrorBytes = 256;
const olderErrorBytes = 64;

/**
 * The attempts that a record keeps, so that its size is bounded: the first and the last 19, with errors truncated.
 */
export function boundedAttempts(attempts: readonly CallAttempt[]): readonly CallAttempt[] {
  const [first, ...others] = attempts;
  if (first === undefined) return attempts;
  const kept = [first, ...others.slice(-lastKept)];
  return kept.map((attempt, index) =>
    shortened(attempt, index < kept.length - newestCount ? olderErrorBytes : newestErrorBytes),
  );
}

function shortened(attempt: CallAttempt, maxBytes: number): CallAttempt {
  return attempt.error === undefined ? attempt : { ...attempt, error: shortError(attempt.error, maxBytes) };
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
