import type { Claims } from "../../../core/access/claims.ts";

/** Errors of a token exchange (RFC 6749 §5.2, RFC 8693 §2.2.2). */
export type TokenErrorCode =
  | "invalid_request"
  | "unsupported_grant_type"
  | "invalid_scope"
  | "invalid_target"
  | "temporarily_unavailable";

/** No token is issued: an error for programs, and one sentence for people. */
export class TokenFault extends Error {
  override readonly name = "TokenFault";
  readonly error: TokenErrorCode;
  /** Claims of the subject's token, if it was valid. */
  readonly subject: Claims | undefined;

  constructor(error: TokenErrorCode, why: string, options: ErrorOptions & { readonly subject?: Claims } = {}) {
    super(`Cannot exchange token: ${why}`, options);
    this.error = error;
    this.subject = options.subject;
  }

  /** The sentence in the characters that RFC 6749 allows: no quotation mark, no backslash. */
  get description(): string {
    return this.message.replaceAll('"', "'").replaceAll(/[^\x20-\x7e]|\\/g, "?");
  }
}
