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
  /**
   * The token, undefined when it is not a valid one of this platform, whatever the reason; a promise unless it was
   * verified before and counts still.
   */
  read(token: string): OwnToken | undefined | Promise<OwnToken | undefined>;
}
