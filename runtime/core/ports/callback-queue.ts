import type { FunctionRef } from "../functions/function-ref.ts";
import type { PutOutcome } from "./call-queue.ts";

/** A pending callback: its address and headers. The output is read from the ledger, unless it is included. */
export interface QueuedCallback {
  readonly id: string;
  readonly run: number;
  readonly redrives: number;
  readonly queue: string;
  readonly function: FunctionRef;
  readonly url: string;
  readonly depth: number;
  /** Flat, complete: those of the function's response overridden by the platform's. */
  readonly headers: readonly string[];
  /** The output, included after a redrive, when the ledger may have lost it. `truncated` = it was too long to keep. */
  readonly output?: { readonly body: Uint8Array; readonly truncated: boolean };
}

/**
 * Holds callbacks until they are sent; the same id, run and redrive put twice are stored once, or sent once by record.
 */
export interface CallbackQueue {
  put(callback: QueuedCallback, until: number): Promise<PutOutcome>;
}
