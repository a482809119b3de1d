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
  return attempt.error === undefined ? attempt : { ...attempt, error: shortError(attempt.error, most) };
}

/** `error` in at most `most` bytes of JSON, with an ellipsis if it was cut. */
export function shortError(error: string, most: number = newestError): string {
  if (jsonBytes(error) <= most) return error;
  let short = "";
  // By code points: half of one would be no text.
  for (const character of error) {
    if (jsonBytes(short + character) + ellipsisBytes > most) break;
    short += character;
  }
  return `${short}…`;
}

const ellipsisBytes = Buffer.byteLength("…");

/** As the record is written: quotes and control characters take more there. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
