import type { FunctionRef } from "../functions/function-ref.ts";
import type { PutOutcome } from "./call-queue.ts";

/** A callback that is owed: where it goes and its headers; output is read from the ledger, unless it is with it. */
export interface QueuedCallback {
  readonly id: string;
  readonly run: number;
  readonly redrives: number;
  readonly queue: string;
  readonly function: FunctionRef;
  readonly url: string;
  readonly depth: number;
  /** Flat, complete: those of the function's answer overridden by the platform's. */
  readonly headers: readonly string[];
  /** The output, where the ledger may have it no more: after a redrive. `truncated` = it was too long to keep. */
  readonly output?: { readonly body: Uint8Array; readonly truncated: boolean };
}

/** Holds callbacks until they are sent; the same id, run and redrive put twice are stored once or sent by record once. */
export interface CallbackQueue {
  put(callback: QueuedCallback, until: number): Promise<PutOutcome>;
}
