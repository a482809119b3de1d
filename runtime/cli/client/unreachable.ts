import { formatDuration } from "../../api/duration.ts";
import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import { isLoopbackAddress } from "../gateways/gateway-address.ts";
import { escapeLine } from "../output/escape-text.ts";
import { errorMessage } from "../error-message.ts";

const weir = "Weir";
/** Codes of OpenSSL and Node.js that say that the certificate of the other side is not trusted. */
const certificateCode = /^(?:CERT_|DEPTH_|ERR_TLS_CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/;
/** Those that say so only because the issuer is not known here. */
const unknownIssuer = /SELF_SIGNED|^UNABLE_TO_/;
/** Codes of OpenSSL for bytes that are no TLS records. */
const otherProtocol: ReadonlySet<string> = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST",
]);

/** Why no reply came from `what`, as an error: exit code 5, or 6 when the time was over. */
export function unreachable(address: string, timeout: number, cause: unknown, what = weir): CliError {
  const { code, name, message } = innermost(cause);
  const sentence = (reason: string): string => `Cannot reach ${what} at ${address}: ${reason}`;
  const failure = (reason: string, hint?: string): CliError =>
    new CliError(exitCode.unavailable, sentence(reason), { cause, hint });
  if (cause instanceof Error && cause.name === "AbortError")
    return new CliError(exitCode.interrupted, "Interrupted", { cause });
  if (certificateCode.test(code)) return failure(certificateReason(code, message));
  if (name === "HTTPParserError")
    return failure(
      address.startsWith("http:")
        ? "it does not speak HTTP; is it https:// instead of http://?"
        : "it does not speak HTTP",
    );
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return failure(tlsReason(code, message));
  switch (code) {
    case "ECONNREFUSED":
      return failure("nothing listens there", what === weir && isLoopbackAddress(address) ? "weir dev" : undefined);
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EAI_FAIL":
    case "ENODATA":
      return failure(`its name has no address (${code})`);
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return failure("the connection was closed before a reply");
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return failure(`no way leads there (${code})`);
    case "ETIMEDOUT":
    case "UND_ERR_CONNECT_TIMEOUT":
      return failure("it does not accept the connection");
    case "UND_ERR_HEADERS_TIMEOUT":
      return new CliError(
        exitCode.timeout,
        sentence(`no reply within ${formatDuration(timeout)}; the request may still be carried out`),
        { cause },
      );
    default:
      return failure(escapeLine(message));
  }
}

function certificateReason(code: string, message: string): string {
  // Node.js adds advice about its own flags.
  const reason = `its certificate is not trusted (${escapeLine(message.split("; ")[0] ?? "")})`;
  return unknownIssuer.test(code) ? `${reason}; name a file with its authority with --ca-file` : reason;
}

/** What went wrong in a handshake. */
function tlsReason(code: string, message: string): string {
  const isOther =
    code === "EPROTO" ? /wrong version number|packet length too long/i.test(message) : otherProtocol.has(code);
  return isOther
    ? "it does not speak TLS; is it http:// instead of https://?"
    : `no TLS session can be agreed on (${escapeLine(message.trim())})`;
}

/** Code and message of the cause of all; several addresses that failed are one `AggregateError`. */
function innermost(cause: unknown): { readonly code: string; readonly name: string; readonly message: string } {
  let error: unknown = cause;
  for (let depth = 0; depth < 5; depth++) {
    if (error instanceof AggregateError && error.errors.length > 0) error = error.errors[0];
    else if (error instanceof Error && error.cause instanceof Error) error = error.cause;
    else break;
  }
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return {
    code: typeof code === "string" ? code : "",
    name: error instanceof Error ? error.name : "",
    message: errorMessage(error),
  };
}
