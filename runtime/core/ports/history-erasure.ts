import type { FunctionRef } from "../functions/function-ref.ts";

/** Removes the calls of a function. */
export interface CallErasure {
  /**
   * Removes ended calls for good, as `CallHistoryWriter.remove` does each; open ones stay. Resolves with the number of
   * calls removed, and of those that stay.
   */
  eraseCalls(ref: FunctionRef): Promise<{ readonly calls: number; readonly open: number }>;
}

/** Removes the kept log lines of a function. */
export interface LineErasure {
  /** Resolves with the number of lines removed. What was followed already does not come again. */
  eraseLines(ref: FunctionRef): Promise<number>;
}
