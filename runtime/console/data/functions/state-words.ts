import type { FunctionState } from "../../../api/schemas/watch/function-row.ts";
import type { Tone } from "../../parts/texts/state-badge.tsx";

/** A state in words, and what it means for who looks. */
export const functionStateWords: Readonly<Record<FunctionState, readonly [words: string, tone: Tone]>> = {
  ready: ["Ready", "good"],
  scaled_to_zero: ["At zero", "off"],
  starting: ["Starting", "busy"],
  degraded: ["Degraded", "warn"],
  stopping: ["Stopping", "busy"],
  stalled: ["Stalled", "bad"],
};
