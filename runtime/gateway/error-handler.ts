import type { IncomingMessage, ServerResponse } from "node:http";

import type { FastifyReply, FastifyRequest } from "fastify";

import { authRequired, header, internalGateway } from "../api/names.ts";
import type { ErrorCode, PlatformError } from "../api/platform-error.ts";
import { apiVersion } from "../api/version.ts";
import { joinedValue, type HeaderList } from "../core/headers/header-list.ts";
import { traceIdOf } from "../core/headers/trace-parent.ts";
import type { Log } from "../process/log.ts";
import { errorText } from "./rest/error-text.ts";
import type { FailedExchange } from "./calls/write-error.ts";
import { platformErrorOf } from "./rest/platform-error-of.ts";
import { replySentence, type ReplyAudience } from "./reply-sentence.ts";

const statuses: Readonly<Record<ErrorCode, number>> = {
  malformed_request: 400,
  validation_failed: 400,
  invalid_callback_url: 400,
  credentials_required: 401,
  credentials_invalid: 401,
  forbidden: 403,
  cross_origin: 403,
  edition_limit: 403,
  namespace_reserved: 403,
  route_not_found: 404,
  function_not_found: 404,
  namespace_not_found: 404,
  secret_not_found: 404,
  queue_not_found: 404,
  call_not_found: 404,
  result_not_found: 404,
  request_not_kept: 404,
  history_off: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  function_exists: 409,
  secret_exists: 409,
  namespace_exists: 409,
  call_finished: 409,
  call_not_finished: 409,
  call_not_redrivable: 409,
  call_not_replayable: 409,
  not_ready: 409,
  payload_too_large: 413,
  target_too_long: 414,
  unsupported_media_type: 415,
  expectation_failed: 417,
  wrong_host: 421,
  log_query_invalid: 422,
  too_many_logins: 429,
  too_many_calls: 429,
  too_many_streams: 429,
  queue_full: 429,
  store_full: 429,
  headers_too_large: 431,
  internal_error: 500,
  not_built: 501,
  function_unreachable: 502,
  bad_function_reply: 502,
  no_ready_replica: 503,
  queue_unavailable: 503,
  history_unavailable: 503,
  provider_unavailable: 503,
  function_timeout: 504,
};

/** Seconds of `Retry-After`: the default for errors that name none, and the maximum. */
const retryAfter = { default: 2, max: 30 } as const;

/** The HTTP status of an error code; only this file maps codes to statuses. */
export function statusOf(code: ErrorCode): number {
  return statuses[code];
}

/** What the caller of the error writer knows besides the error. */
export interface ErrorContext {
  readonly callId?: string;
  /** The request's own if valid, else the one generated for it; its trace id is logged. */
  readonly traceParent?: string;
  /** Whether the request was for `/function/` or `/async-function/`. */
  readonly invocation?: boolean;
  /** Additional headers, e.g. `Allow`. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Who reads the reply; `anyone` if absent. */
  readonly audience?: ReplyAudience;
}

/** Replies to failed requests, in the same way inside and outside of Fastify. */
export interface ErrorWriter {
  /**
   * For raw handlers. Cuts the exchange if the head of a reply was made; logs unknown errors. Returns the number of
   * body bytes sent.
   */
  writeError(exchange: FailedExchange, err: unknown, context?: ErrorContext): number;
  /** For Fastify's handlers. */
  sendError(request: FastifyRequest, reply: FastifyReply, err: unknown, context?: ErrorContext): FastifyReply;
}

/** The parts of a request that its error reply depends on. */
interface FailedRequest {
  readonly method?: string | undefined;
  readonly rawHeaders: HeaderList;
}

/** The exchange of a node:http request whose handler writes the response itself. */
export function failedExchange(request: IncomingMessage, response: ServerResponse): FailedExchange {
  const { method, url, rawHeaders } = request;
  return {
    method,
    url,
    rawHeaders,
    get headersSent() {
      return response.headersSent;
    },
    get destroyed() {
      return response.destroyed;
    },
    writeHead: (status, headers) => response.writeHead(status, headers),
    destroy: () => response.destroy(),
  };
}

/** Milliseconds between two log lines about withheld sentences of one code: a broker that is away fails every call. */
const withheldPause = 10_000;

/**
 * The error writer of one gateway; `log` receives each error that is a defect of the platform, once, and what a reply
 * withholds from its reader. `withTokens`: a caller may also send a token.
 */
export function createErrorWriter(log: Log, withTokens = false, now = () => performance.now()): ErrorWriter {
  const withheldAt = new Map<ErrorCode, number>();
  const logWithheld = (err: PlatformError, facts: object): void => {
    const last = withheldAt.get(err.code);
    if (last !== undefined && now() - last < withheldPause) return;
    withheldAt.set(err.code, now());
    log.warn({ err, code: err.code, ...facts }, "request refused");
  };
  const errorReply = ({ method, rawHeaders }: FailedRequest, path: string, err: unknown, context: ErrorContext) => {
    const error = platformErrorOf(err);
    const callId = context.callId ?? error.callId;
    if (error.code === "internal_error") {
      const traceId = context.traceParent === undefined ? undefined : traceIdOf(context.traceParent);
      log.error({ err, method, path, callId, traceId }, "request failed");
    }
    const status = statusOf(error.code);
    const sentence = replySentence(error, context.audience ?? "anyone");
    // What an error says apart from its public sentence is logged where it comes from.
    if (sentence !== error.message && error.publicly === undefined && error.code !== "internal_error")
      logWithheld(error, { method, path, callId });
    const facts = { code: error.code, status, sentence, instance: path, callId };
    const { type, body } = errorText(facts, joinedValue(rawHeaders, "accept"));
    const headers: Record<string, string> = {
      "Content-Type": type,
      "Content-Length": String(Buffer.byteLength(body)),
      ...headersOf(error, status, path, callId, context),
      ...(status === 401 ? challenge(context.invocation === true, withTokens, isOfBrowser(rawHeaders)) : {}),
    };
    return { status, headers, body };
  };

  return {
    writeError(exchange, err, context = {}) {
      const { status, headers, body } = errorReply(exchange, pathOf(exchange.url), err, context);
      if (exchange.headersSent || exchange.destroyed) {
        exchange.destroy();
        return 0;
      }
      exchange.writeHead(status, headers).end(body);
      return exchange.method === "HEAD" ? 0 : Buffer.byteLength(body);
    },
    sendError(request, reply, err, context = {}) {
      // The server has replied already, because the body arrived too slowly.
      if (reply.raw.headersSent) return reply.hijack();
      const { status, headers, body } = errorReply(request.raw, pathOf(request.originalUrl), err, context);
      // Fastify sets `Connection: close` after every failed body, even one that was read to its end.
      reply.removeHeader("connection");
      // As bytes, because Fastify adds a charset to JSON text.
      return reply.code(status).headers(headers).send(Buffer.from(body));
    },
  };
}

function headersOf(
  error: PlatformError,
  status: number,
  path: string,
  callId: string | undefined,
  context: ErrorContext,
): Record<string, string> {
  const headers: Record<string, string> = { "X-Content-Type-Options": "nosniff" };
  if (path.startsWith("/system/")) {
    headers["Cache-Control"] = "no-store";
    headers[header.apiVersion] = apiVersion;
  }
  if (status === 429 || status === 503) {
    const seconds = Math.ceil(error.retryAfterSeconds ?? retryAfter.default);
    headers["Retry-After"] = String(Math.min(Math.max(seconds, 1), retryAfter.max));
  }
  if (callId !== undefined) headers[header.callId] = callId;
  if (error.callQueued !== undefined) headers[header.callQueued] = error.callQueued;
  if (context.invocation === true && (status === 502 || status === 503 || status === 504)) {
    headers[header.internal] = internalGateway;
  }
  return Object.assign(headers, context.extra);
}

/**
 * How to authenticate (contract §1.2), and of a call that the gateway asks for it. A browser is not asked for Basic: it
 * would prompt for the administrator's password on a page of a function, and send it with every request from then on.
 */
function challenge(invocation: boolean, withTokens: boolean, isBrowser: boolean): Record<string, string> {
  const realm = invocation ? "IAM function invoke" : "weir";
  const schemes = [
    ...(isBrowser ? [] : ['Basic realm="Restricted"']),
    ...(withTokens ? [`Bearer realm="${realm}"`] : []),
  ];
  return {
    ...(schemes.length === 0 ? {} : { "WWW-Authenticate": schemes.join(", ") }),
    ...(invocation ? { [header.weirAuth]: authRequired } : {}),
  };
}

/** Over plain http a browser says nothing of itself but its name, which begins like this in all of them. */
function isOfBrowser(rawHeaders: HeaderList): boolean {
  return (
    joinedValue(rawHeaders, "sec-fetch-site") !== undefined ||
    joinedValue(rawHeaders, "user-agent")?.startsWith("Mozilla/") === true
  );
}

/** The path of a target, without its query. */
function pathOf(target = "/"): string {
  const mark = target.indexOf("?");
  return mark === -1 ? target : target.slice(0, mark);
}
