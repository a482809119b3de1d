import { PublicSentence } from "./public-sentence.ts";

/** Codes of the contract §1.7; only the gateway's error handler knows the status of each. */
export const errorCodes = [
  "malformed_request",
  "validation_failed",
  "invalid_callback_url",
  "credentials_required",
  "credentials_invalid",
  "forbidden",
  "cross_origin",
  "edition_limit",
  "namespace_reserved",
  "route_not_found",
  "function_not_found",
  "namespace_not_found",
  "secret_not_found",
  "queue_not_found",
  "call_not_found",
  "result_not_found",
  "request_not_kept",
  "history_off",
  "method_not_allowed",
  "request_timeout",
  "function_exists",
  "secret_exists",
  "namespace_exists",
  "call_finished",
  "call_not_finished",
  "call_not_redrivable",
  "call_not_replayable",
  "not_ready",
  "payload_too_large",
  "target_too_long",
  "headers_too_large",
  "unsupported_media_type",
  "expectation_failed",
  "wrong_host",
  "log_query_invalid",
  "too_many_logins",
  "too_many_calls",
  "too_many_streams",
  "queue_full",
  "store_full",
  "internal_error",
  "not_built",
  "function_unreachable",
  "bad_function_reply",
  "no_ready_replica",
  "queue_unavailable",
  "history_unavailable",
  "provider_unavailable",
  "function_timeout",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** What a `PlatformError` may carry besides code and sentence. */
export interface PlatformErrorOptions extends ErrorOptions {
  /** Seconds for `Retry-After`, 1 to 30. */
  readonly retryAfterSeconds?: number;
  /** Whether a refused call may run anyway: `X-Call-Queued` (contract §4.2). */
  readonly callQueued?: "no" | "unknown";
  /** The id under which the client may send the call again. */
  readonly callId?: string;
  /** What senders without rights get instead of the sentence, where that quotes what only those with rights may read. */
  readonly publicly?: PublicSentence;
}

/**
 * A failure that the platform has a code for: the stable code for programs, one sentence for people. The sentence is for
 * the log and for senders with rights; `publicly` is for all others.
 */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly callQueued: "no" | "unknown" | undefined;
  readonly callId: string | undefined;
  /** What anyone may read; undefined: the code decides. */
  readonly publicly: PublicSentence | undefined;

  constructor(code: ErrorCode, sentence: string | PublicSentence, options: PlatformErrorOptions = {}) {
    super(String(sentence), options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.callQueued = options.callQueued;
    this.callId = options.callId;
    this.publicly = options.publicly ?? (sentence instanceof PublicSentence ? sentence : undefined);
  }
}
