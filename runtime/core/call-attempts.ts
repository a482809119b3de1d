import type { CallAttempt } from "./call-entry.ts";

/** Attempts a record shows beside the first one: the last of them. */
const lastKept = 19;
/** Bytes of JSON that the error of an attempt may take: of the newest few, and of older ones. */
const newest = 4;
const newestError = 256;
const olderError = 64;

/**
 * The attempts as a record keeps them, so that its size is bounded whatever a call goes through: the first and the last
 * 19, with errors cut short.
 */
export function boundedAttempts(attempts: readonly CallAttempt[]): readonly CallAttempt[] {
  const [first, ...others] = attempts;
  if (first === undefined) return attempts;
  const kept = [first, ...others.slice(-lastKept)];
  return kept.map((attempt, index) => shortened(attempt, index < kept.length - newest ? olderError : newestError));
}

function shortened(attempt: CallAttempt, most: number): CallAttempt {
  if (attempt.error === undefined || jsonBytes(attempt.error) <= most) return attempt;
  let error = "";
  // By code points: half of one would be no text.
  for (const character of attempt.error) {
    if (jsonBytes(error + character) + ellipsisBytes > most) break;
    error += character;
  }
  return { ...attempt, error: `${error}…` };
}

const ellipsisBytes = Buffer.byteLength("…");

/** As the record is written: quotes and control characters take more there. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
