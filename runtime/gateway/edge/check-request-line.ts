import { judgeMethod } from "../../api/http-methods.ts";
import { PlatformError } from "../../api/platform-error.ts";

/** Bytes (contract §1.6). */
const targetLimit = 8_192;
/** Origin-form, which has no fragment (RFC 9112 §3.2.1). */
const origin = /^\/[!"$-~]*$/;

/** @throws PlatformError for methods and targets that no route accepts; all of them close the connection */
export function checkRequestLine(method: string, target: string): void {
  const judged = judgeMethod(method);
  if (judged === "unknown")
    throw new PlatformError("malformed_request", "Cannot read request: there is no such method");
  if (judged === "refused")
    throw new PlatformError("method_not_allowed", `Cannot use method "${method}": it is not allowed here`);
  if (target.length > targetLimit) {
    throw new PlatformError(
      "target_too_long",
      `Cannot read request: its target of ${target.length} bytes is over the limit of ${targetLimit}`,
    );
  }
  if (!origin.test(target)) {
    throw new PlatformError(
      "malformed_request",
      "Cannot read request: its target is not an origin-form of printable ASCII",
    );
  }
}
