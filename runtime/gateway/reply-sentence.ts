import type { ErrorCode, PlatformError } from "../api/platform-error.ts";
import { publicly, type PublicSentence } from "../api/public-sentence.ts";

/** Whom a reply is for: `operator` has credentials of the platform, and gets the whole sentence. */
export type ReplyAudience = "anyone" | "operator";

/** Sentences of these codes quote only the request itself, so that its sender may read them. */
const ofRequest = "of the request";

const internal = publicly`Cannot answer this request: an internal error occurred`;

/** What anyone gets of an error that has no public sentence. A new code has to choose. */
const sentences: Readonly<Record<ErrorCode, typeof ofRequest | PublicSentence>> = {
  malformed_request: ofRequest,
  validation_failed: ofRequest,
  invalid_callback_url: ofRequest,
  credentials_required: ofRequest,
  credentials_invalid: ofRequest,
  forbidden: ofRequest,
  cross_origin: ofRequest,
  edition_limit: ofRequest,
  namespace_reserved: ofRequest,
  route_not_found: ofRequest,
  function_not_found: ofRequest,
  namespace_not_found: ofRequest,
  secret_not_found: publicly`Cannot answer this request: a secret does not exist`,
  queue_not_found: ofRequest,
  call_not_found: ofRequest,
  result_not_found: ofRequest,
  request_not_kept: ofRequest,
  history_off: ofRequest,
  method_not_allowed: ofRequest,
  request_timeout: ofRequest,
  function_exists: ofRequest,
  secret_exists: ofRequest,
  namespace_exists: ofRequest,
  call_finished: ofRequest,
  call_not_finished: ofRequest,
  call_not_redrivable: ofRequest,
  call_not_replayable: ofRequest,
  not_ready: publicly`Cannot answer this request: the function is not ready`,
  payload_too_large: ofRequest,
  target_too_long: ofRequest,
  unsupported_media_type: ofRequest,
  expectation_failed: ofRequest,
  wrong_host: ofRequest,
  log_query_invalid: ofRequest,
  too_many_logins: ofRequest,
  too_many_calls: publicly`Cannot answer this request: too many calls are in flight`,
  too_many_streams: publicly`Cannot answer this request: too many streams are open`,
  queue_full: publicly`Cannot queue call: its queue is full; send it again later`,
  store_full: publicly`Cannot queue call: the broker's store is nearly full; send it again later`,
  headers_too_large: ofRequest,
  internal_error: internal,
  not_built: publicly`Cannot answer this request: this Weir does not have it`,
  function_unreachable: publicly`Cannot call the function: it cannot be reached`,
  bad_function_reply: publicly`Cannot call the function: its reply cannot be passed on`,
  no_ready_replica: publicly`Cannot wake the function: no replica is ready`,
  queue_unavailable: publicly`Cannot answer this request: the broker is unavailable; try again later`,
  history_unavailable: publicly`Cannot answer this request: the history is unavailable; try again later`,
  provider_unavailable: publicly`Cannot answer this request: the provider is unavailable; try again later`,
  function_timeout: publicly`Cannot call the function: no reply within its timeout`,
};

/** The sentence of an error in a reply to that audience. */
export function replySentence({ code, message, publicly: own }: PlatformError, audience: ReplyAudience): string {
  if (audience === "operator") return message;
  if (own !== undefined) return String(own);
  const sentence = sentences[code];
  return sentence === ofRequest ? message : String(sentence);
}
