import { PlatformError, type ErrorCode } from "../../api/platform-error.ts";
import { isSchemaFailure, validationSentence } from "./validation-sentence.ts";

/** Errors of the HTTP framework by its codes, as platform errors. */
const frameworkErrors: ReadonlyMap<string, readonly [ErrorCode, string]> = new Map([
  ["FST_ERR_BAD_URL", ["route_not_found", "Cannot find this route: its path is malformed"]],
  ["FST_ERR_MAX_PARAM_LENGTH", ["route_not_found", "Cannot find this route: its path is too long"]],
  ["FST_ERR_CTP_BODY_TOO_LARGE", ["payload_too_large", "Cannot read the body: it is over the limit"]],
  [
    "FST_ERR_CTP_INVALID_CONTENT_LENGTH",
    ["malformed_request", "Cannot read the body: it is not as long as Content-Length says"],
  ],
  ["FST_ERR_CTP_INVALID_MEDIA_TYPE", ["unsupported_media_type", "Cannot read the body: its Content-Type is malformed"]],
]);

/** `err` as a platform error; an unknown one becomes `internal_error` with a constant sentence. */
export function platformErrorOf(err: unknown): PlatformError {
  if (err instanceof PlatformError) return err;
  if (isSchemaFailure(err)) return new PlatformError("validation_failed", validationSentence(err), { cause: err });
  const code = err instanceof Error && "code" in err ? String(err.code) : "";
  const [known, sentence] = frameworkErrors.get(code) ?? [
    "internal_error",
    "Cannot answer this request: an internal error occurred",
  ];
  return new PlatformError(known, sentence, { cause: err });
}
