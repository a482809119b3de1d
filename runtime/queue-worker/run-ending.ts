import type { CallEntry } from "../core/call-entry.ts";
import type { RunOutcome, RunVerdict } from "../core/judge-run.ts";
import type { StoredResult } from "../core/ports/call-ledger.ts";

/**
 * What a run leaves: nothing to do, a call that waits for its retry in this worker's hands, or what is left to do when the
 * slot is free again.
 */
export type RunEnding = "over" | "waiting" | (() => Promise<void>);

/** Everything about a run that came to its end, but whether its output could be kept. */
export interface Ending {
  readonly outcome: RunOutcome;
  readonly verdict: Extract<RunVerdict, { kind: "done" | "failed" }>;
  readonly endedAt: number;
  readonly facts: Omit<NonNullable<CallEntry["result"]>, "stored"> | undefined;
  /** The output, if it is to be kept and not too long. */
  readonly kept: StoredResult | undefined;
}
