import { formatDuration } from "../../api/duration.ts";
import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import { isLoopbackAddress } from "../gateways/gateway-address.ts";

/** Codes of OpenSSL and Node.js that say that the certificate of the other side is not trusted. */
const certificateCode = /^(?:CERT_|DEPTH_|ERR_TLS_CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** Why no reply came, as an error: exit code 5, or 6 when the time was over. */
export function unreachable(address: string, timeout: number, cause: unknown): CliError {
  const { code, message } = innermost(cause);
  const sentence = (reason: string): string => `Cannot reach Weir at ${address}: ${reason}`;
  const failure = (reason: string, hint?: string): CliError =>
    new CliError(exitCode.unavailable, sentence(reason), { cause, hint });
  if (cause instanceof Error && cause.name === "AbortError")
    return new CliError(exitCode.interrupted, "Interrupted", { cause });
  if (certificateCode.test(code))
    return failure(`its certificate is not trusted (${message})`, "weir --help, options --ca-file and --tls-insecure");
  switch (code) {
    case "ECONNREFUSED":
      return failure("nothing listens there", isLoopbackAddress(address) ? "weir dev" : undefined);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return failure(`its name has no address (${code})`);
    case "ECONNRESET":
    case "UND_ERR_SOCKET":
      return failure("the connection was closed before a reply");
    case "EPROTO":
    case "ERR_SSL_WRONG_VERSION_NUMBER":
      return failure("it does not speak TLS; is it http:// instead of https://?");
    case "UND_ERR_CONNECT_TIMEOUT":
      return failure("it does not accept the connection");
    case "UND_ERR_HEADERS_TIMEOUT":
      return new CliError(
        exitCode.timeout,
        sentence(`no reply within ${formatDuration(timeout)}; the request may still be carried out`),
        { cause },
      );
    default:
      return failure(message);
  }
}

/** Code and message of the cause of all; several addresses that failed are one `AggregateError`. */
function innermost(cause: unknown): { readonly code: string; readonly message: string } {
  let error: unknown = cause;
  for (let depth = 0; depth < 5; depth++) {
    if (error instanceof AggregateError && error.errors.length > 0) error = error.errors[0];
    else if (error instanceof Error && error.cause instanceof Error) error = error.cause;
    else break;
  }
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return {
    code: typeof code === "string" ? code : "",
    message: error instanceof Error ? error.message : String(error),
  };
}
