import { parseCallId } from "../../api/grammar.ts";
import { isHost } from "../../api/host-grammar.ts";
import { header } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { connectionOptions } from "../../api/http-grammar.ts";
import { isSimpleConnection } from "../../core/headers/hop-by-hop.ts";
import { CachedHeaders } from "../../core/headers/cached-headers.ts";
import { withoutSessionCookies } from "../../core/headers/session-cookies.ts";
import { quote } from "../../core/quote.ts";
import { isTraceParent } from "../../core/headers/trace-parent.ts";
import { contentLengthOf, isChunkedCoding } from "../../http1/framing-rules.ts";
import { unansweredHost, type AnswersHost } from "../../settings/answered-hosts.ts";
import type { RequestHead } from "../calls/request-head.ts";
import {
  isProtectedHeader,
  requestHeader,
  requestHeaderKinds,
  type RequestHeaderKind,
} from "./request-header-kinds.ts";

/** The peer of a request's connection. */
export interface Peer {
  /** Whether it is a trusted proxy, whose headers about the client count (`isProxyHeader`). */
  readonly trusted: boolean;
  /** Whether it speaks TLS. */
  readonly secure: boolean;
  /** Whether it is answered at this value of `Host`; if absent, at any. */
  readonly answersHost?: AnswersHost | undefined;
}

/** Contract §1.6. */
const maxHeaders = 100;
/** Options of `Connection` that decide whether it is kept alive. */
const persistence: ReadonlySet<string> = new Set(["close", "keep-alive"]);
const untrusted: Peer = { trusted: false, secure: false };

/**
 * Reads the head from the raw header list (`security.md` H1, H3, H4, H6, H7).
 * @throws PlatformError `malformed_request`, `headers_too_large`, `expectation_failed`, `wrong_host`; all of them close the
 * connection
 */
export function readRequestHead(
  rawHeaders: readonly string[],
  remoteAddress: string,
  peer: Peer = untrusted,
): RequestHead {
  if (rawHeaders.length > 2 * maxHeaders) {
    throw new PlatformError(
      "headers_too_large",
      `Cannot read request: ${rawHeaders.length / 2} headers are over the limit of ${maxHeaders}`,
    );
  }
  let forward: string[] = [];
  let seen = 0;
  let host: string | undefined;
  let callId: string | undefined;
  let callbackUrl: string | undefined;
  let callDepth: number | undefined;
  let authorization: string | undefined;
  let contentLength: number | undefined;
  let chunked = false;
  let functionStatus = false;
  let startTime: string | undefined;
  let expect = false;
  let wantsTrailers = false;
  let upgrade: string | undefined;
  let options: string[] | undefined;
  let closes = false;
  let keeps = false;
  let traceParent: string | undefined;
  let traceState: string[] | undefined;
  let named: string[] | undefined;
  let invokeKey: string | undefined;
  let invokeTimeout: number | undefined;
  let forwardedFor: string | undefined;
  let forwardedHost: string | undefined;
  let forwardedProto: string | undefined;

  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    const value = rawHeaders[index + 1] ?? "";
    const kind: RequestHeaderKind = requestHeaderKinds.of(name);
    if (kind === requestHeader.pass) {
      forward.push(name, value);
      continue;
    }
    if (kind >= requestHeader.host) {
      if ((seen & (1 << kind)) !== 0) malformed(`header "${name}" came twice`);
      seen |= 1 << kind;
    }
    switch (kind) {
      case requestHeader.traceParent:
        // Several are ambiguous, even if equal: an empty value is invalid.
        traceParent = traceParent === undefined ? value : "";
        break;
      case requestHeader.traceState:
        (traceState ??= []).push(name, value);
        break;
      case requestHeader.contentType:
        forward.push(name, value);
        break;
      case requestHeader.functionStatus:
        functionStatus = true;
        forward.push(name, value);
        break;
      case requestHeader.forwarded:
        if (peer.trusted) forward.push(name, value);
        break;
      case requestHeader.forwardedFor:
        forwardedFor = forwardedFor === undefined ? value : `${forwardedFor}, ${value}`;
        break;
      case requestHeader.forwardedHost:
        forwardedHost = value;
        break;
      case requestHeader.forwardedProto:
        forwardedProto = value;
        break;
      case requestHeader.connection:
        if (value === "keep-alive" || value === "Keep-Alive") {
          keeps = true;
          break;
        }
        if (!isSimpleConnection(value)) named = [...(named ?? []), ...connectionOptions(value)];
        options = [...(options ?? []), ...connectionOptions(value)];
        break;
      case requestHeader.proxyConnection:
        // No standard defines it, but llhttp and others treat it as `Connection`.
        options = [...(options ?? []), ...connectionOptions(value).filter((option) => persistence.has(option))];
        break;
      case requestHeader.upgrade:
        upgrade = value.toLowerCase();
        break;
      case requestHeader.expect:
        if (value.toLowerCase() !== "100-continue") {
          throw new PlatformError(
            "expectation_failed",
            `Cannot meet expectation "${value.slice(0, 100)}": only 100-continue is supported`,
          );
        }
        expect = true;
        break;
      case requestHeader.te:
        wantsTrailers ||= connectionOptions(value).includes("trailers");
        break;
      case requestHeader.cookie: {
        const cookies = withoutSessionCookies(value);
        if (cookies !== undefined) forward.push(name, cookies);
        break;
      }
      case requestHeader.startTime:
        if (/^\d{1,20}$/.test(value)) startTime = value;
        break;
      case requestHeader.host:
        host = value;
        break;
      case requestHeader.authorization:
        // Clients of this API family send an empty value where nothing is configured.
        if (value !== "") authorization = value;
        break;
      case requestHeader.contentLength:
        contentLength = contentLengthOf(value);
        if (contentLength === undefined) malformed(`"${value.slice(0, 100)}" is not a content length`);
        break;
      case requestHeader.transferEncoding:
        if (!isChunkedCoding(value)) malformed(`transfer coding "${value.slice(0, 100)}" is not "chunked"`);
        chunked = true;
        break;
      case requestHeader.callId:
        callId = parseCallId(value);
        break;
      case requestHeader.callbackUrl:
        if (value === "") break;
        callbackUrl = value;
        forward.push(name, value);
        break;
      case requestHeader.callDepth:
        if (!/^\d{1,6}$/.test(value)) break;
        callDepth = Number(value);
        forward.push(name, value);
        break;
      case requestHeader.invokeKey:
        invokeKey = value;
        break;
      case requestHeader.invokeTimeout:
        if (/^\d{1,9}$/.test(value)) invokeTimeout = Number(value);
        break;
      default:
        break;
    }
  }
  if (host === undefined) malformed('header "Host" is missing');
  if (!isHost(host)) malformed(`"${host.slice(0, 100)}" is not a host`);
  if (peer.answersHost?.(host) === false) throw new PlatformError("wrong_host", unansweredHost(quote(host)));
  if (options !== undefined) {
    if (options.includes("transfer-encoding")) malformed('"Connection" names "transfer-encoding"');
    closes = options.includes("close");
    keeps ||= options.includes("keep-alive");
  }
  if (chunked && contentLength !== undefined) malformed("it has both a content length and a transfer coding");
  if (traceParent !== undefined && (!isTraceParent(traceParent) || named?.includes("traceparent") === true))
    traceParent = undefined;
  if (traceParent !== undefined && traceState !== undefined) forward.push(...traceState);
  if (named !== undefined) forward = withoutNamed(forward, named);

  const address = remoteAddress.startsWith("::ffff:") ? remoteAddress.slice(7) : remoteAddress;
  const hasOrigin = peer.trusted && forwardedFor !== undefined;
  forward.push(header.forwardedFor, hasOrigin ? `${forwardedFor}, ${address}` : address);
  forward.push(header.forwardedHost, (peer.trusted ? forwardedHost : undefined) ?? host);
  forward.push(header.forwardedProto, (peer.trusted ? forwardedProto : undefined) ?? (peer.secure ? "https" : "http"));

  return {
    forward: new CachedHeaders(forward),
    callId,
    callbackUrl,
    callDepth,
    authorization,
    contentLength,
    chunked,
    functionStatus,
    startTime,
    expect,
    wantsTrailers,
    upgrade,
    upgrades: options?.includes("upgrade") === true,
    closes,
    keeps,
    traceParent,
    forwardedFor,
    invokeKey,
    invokeTimeout,
    fromWorker: false,
  };
}

/** @throws PlatformError `malformed_request` if `Connection` names a header that hops must not remove */
function withoutNamed(forward: readonly string[], named: readonly string[]): string[] {
  for (const name of named) {
    if (isProtectedHeader(name)) malformed(`"Connection" names "${name.slice(0, 100)}"`);
  }
  const kept: string[] = [];
  for (let index = 0; index < forward.length; index += 2) {
    const name = forward[index] ?? "";
    if (!named.includes(name.toLowerCase())) kept.push(name, forward[index + 1] ?? "");
  }
  return kept;
}

function malformed(why: string): never {
  throw new PlatformError("malformed_request", `Cannot read request: ${why}`);
}
