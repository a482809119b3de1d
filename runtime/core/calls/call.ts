import type { FunctionRef } from "../functions/function-ref.ts";

/** An asynchronous call as the queue carries it. */
export interface QueuedCall {
  /** UUID in lower case. */
  readonly id: string;
  readonly queue: string;
  readonly function: FunctionRef;
  /** Acceptance, Unix nanoseconds. */
  readonly start: bigint;
  /** How many callbacks led to this call. */
  readonly depth: number;
  readonly method: string;
  /** Bytes after the function name, without query; begins with `/` or is empty. */
  readonly path: string;
  /** Without `?`; undefined = none, empty = a bare `?`. */
  readonly query: string | undefined;
  /** Where the callback goes; undefined = no callback. */
  readonly callbackUrl: string | undefined;
  /** The id that the client sent, if the call got another. */
  readonly parentId: string | undefined;
  /** Flat: name, value, name, value …, in arrival order; without hop-by-hop and platform headers. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}
