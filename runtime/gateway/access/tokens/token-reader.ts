import type { Claims } from "../../../core/access/claims.ts";

/** A valid token that this platform issued. */
export interface OwnToken {
  /** `api`: for `/system/*` and calls; `function`: for calls of the functions it names. */
  readonly kind: "api" | "function";
  readonly claims: Claims;
  /** Names of the policies it was issued with. */
  readonly policies: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Verifies tokens of this platform. */
export interface TokenReader {
  /** A token that was verified before and counts still: without waiting, for the fast path of calls. */
  known(token: string): OwnToken | undefined;
  /** Verifies a token; undefined when it is not a valid one of this platform, whatever the reason. */
  read(token: string): Promise<OwnToken | undefined>;
}
