import { publicly, type PublicSentence } from "../api/public-sentence.ts";

/** The time since `began` (monotonic milliseconds), formatted for a sentence: `2.4 s`. */
export function secondsSince(began: number): PublicSentence {
  const tenths = Math.round((performance.now() - began) / 100);
  return publicly`${Math.floor(tenths / 10)}.${tenths % 10} s`;
}
