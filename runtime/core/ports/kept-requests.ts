import type { QueuedCall } from "../calls/call.ts";
import type { FunctionRef } from "../functions/function-ref.ts";

/** The request of a call, without the headers that are not kept. */
export interface SafeRequest {
  readonly call: QueuedCall;
  /** Names of headers that were left out, as they may hold credentials; lower case, each once. */
  readonly redacted: readonly string[];
}

/** The request of an ended call, as it is kept to be shown and sent again. */
export interface StoredRequest extends SafeRequest {
  /** When it is removed, Unix milliseconds of the store's clock. */
  readonly expiresAt: number;
}

/** Keeps requests of ended calls for a time. */
export interface RequestKeeper {
  /**
   * Keeps a request for `ttl` milliseconds; that of one call is kept once. Tries once, for about half a second, and never
   * rejects: false if it was not stored.
   */
  put(request: SafeRequest, ttl: number): Promise<boolean>;
}

/**
 * Reads and removes kept requests. The oldest ones make room for new ones, so one may be gone before its time. All
 * methods reject with `queue_unavailable` when the store cannot be reached; that there is nothing to remove is not an
 * error.
 */
export interface KeptRequests {
  find(ref: FunctionRef, id: string): Promise<StoredRequest | undefined>;
  remove(ref: FunctionRef, id: string): Promise<void>;
  /** Removes those of a function; resolves with their number. */
  removeFunction(ref: FunctionRef): Promise<number>;
  /** Removes those of all functions of a namespace. */
  removeNamespace(namespace: string): Promise<void>;
}
