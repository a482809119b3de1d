import type { ErrorCode } from "../../api/platform-error.ts";
import type { Grant } from "../../core/access/grants.ts";
import type { Principal } from "../../core/access/principal.ts";

/** A statement by the names that lead to it. */
export type StatementOrigin = Pick<Grant, "role" | "policy" | "sid">;

/** A request that was refused, or that changed something, and what decided it. */
export interface ObservedAccess {
  /** Who sent it; undefined when its credentials were missing or wrong. */
  readonly principal: Principal | undefined;
  /** `Kind:Verb`; for routes without an action, the id of the operation. */
  readonly action: string;
  /**
   * `namespace:function`, `namespace:*` or `*`, in real names; several where one request changes several functions, none
   * if the request was refused before it was read.
   */
  readonly resources: readonly string[];
  /** The statement that allowed it; undefined when none did. */
  readonly by: StatementOrigin | undefined;
  /** The statement of a role that only reports which would have allowed it. */
  readonly reported: StatementOrigin | undefined;
  /** Status of the response. */
  readonly status: number;
  /** Code of the error, if the response is one. */
  readonly code: ErrorCode | undefined;
  /** The client's, seen through trusted proxies. */
  readonly address: string;
  /** Of requests to `/system` and tokens; undefined for calls. */
  readonly requestId: string | undefined;
  /** Of calls. */
  readonly callId: string | undefined;
}

/**
 * Told of every refusal on `/system`, at tokens and of calls of protected functions, and of every change on `/system`. It
 * must neither throw nor take long.
 */
export interface AccessObserver {
  /** Credentials were missing, wrong or throttled, the page's origin is not allowed, or no policy allows the request. */
  refused(access: ObservedAccess): void;
  /** The request was permitted and changed something, or may have done so before it failed. */
  changed(access: ObservedAccess): void;
}

/** Observes nothing. */
export const unobserved: AccessObserver = { refused: () => {}, changed: () => {} };
