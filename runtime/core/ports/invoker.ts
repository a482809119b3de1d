import type { QueuedCall } from "../calls/call.ts";
import type { FunctionProtocol } from "../functions/function-limits.ts";

/** Outcome of sending a queued call to a function. */
export type InvokeOutcome =
  | {
      readonly kind: "responded";
      readonly status: number;
      /** Flat, without hop-by-hop headers. */
      readonly headers: readonly string[];
      /** Undefined when it was longer than the limit. */
      readonly body: Uint8Array | undefined;
      /** Bytes the function sent. */
      readonly size: number;
      /** Milliseconds to the end of the response. */
      readonly duration: number;
    }
  /** Connection refused, reset or cut, or response malformed or short. `sent`: the function may have begun. */
  | { readonly kind: "unreachable"; readonly error: string; readonly sent: boolean; readonly duration: number }
  | { readonly kind: "timed-out"; readonly duration: number }
  /** No replica could take it in time. */
  | { readonly kind: "no-replica"; readonly error: string; readonly duration: number }
  /** The function no longer exists. */
  | { readonly kind: "function-gone"; readonly duration: number }
  | { readonly kind: "aborted"; readonly duration: number };

export interface InvokeOptions {
  /** Which run this is, counted from 1: `X-Call-Attempt`. */
  readonly attempt: number;
  /** Milliseconds. */
  readonly timeout: number;
  /** Maximum bytes of output to keep. */
  readonly outputLimit: number;
  /** What the replica speaks; HTTP/1.1 if absent. */
  readonly protocol?: FunctionProtocol;
  readonly signal: AbortSignal;
}

/** Sends a queued call to `address`, a replica or the gateway; never rejects. */
export interface Invoker {
  invoke(address: string, call: QueuedCall, options: InvokeOptions): Promise<InvokeOutcome>;
}
