import { header } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { CorsRule } from "../../core/functions/cors-rule.ts";
import { CachedHeaders } from "../../core/headers/cached-headers.ts";
import { joinedValue, withoutHeaders } from "../../core/headers/header-list.ts";
import { quote } from "../../core/quote.ts";
import type { TableEntry } from "../../core/replicas/function-table.ts";
import type { Exchange, ReplyHeaders } from "./exchange.ts";

/** Headers of replies that a page may read beside the usual ones. */
const exposed = [
  header.callId,
  header.callQueued,
  header.durationSeconds,
  header.functionStatus,
  header.startTime,
  "Retry-After",
].join(", ");

/** Of the rule alone, whatever the function says: two answers are none for a browser. */
const ofRule: ReadonlySet<string> = new Set(["access-control-allow-origin", "access-control-allow-credentials"]);

const fieldNames = /^[-_A-Za-z0-9, ]{1,4096}$/;

/** The function's rule for pages of other origins, if it has one. */
export function corsRuleOf(entry: TableEntry | undefined): CorsRule | undefined {
  const limits = entry?.facts.limits;
  return limits === undefined || limits instanceof PlatformError ? undefined : limits.cors;
}

/** Whether a browser asks what a page of another origin may send, before it sends it (CORS of the Fetch standard). */
export function isPreflight({ method, rawHeaders }: Pick<Exchange, "method" | "rawHeaders">): boolean {
  return (
    method === "OPTIONS" &&
    joinedValue(rawHeaders, "origin") !== undefined &&
    joinedValue(rawHeaders, "access-control-request-method") !== undefined
  );
}

/**
 * Answers a preflight by the rule, and returns true: it has no credentials, and no function is called. Else every reply
 * of the exchange, errors among them, lets the pages of the rule read it.
 * @throws PlatformError `cross_origin` for a preflight of another page
 */
export function applyCors(exchange: Exchange, rule: CorsRule): boolean {
  // Only the reply of a queue-worker's call would have them, and no page reads that.
  if (exchange.head.fromWorker) return false;
  const origin = joinedValue(exchange.rawHeaders, "origin");
  const isGranted = origin !== undefined && (rule.origins === "*" || rule.origins.includes(origin.toLowerCase()));
  if (!isPreflight(exchange)) {
    addToReplies(exchange, [
      ...(isGranted ? [...grantTo(origin, rule), "Access-Control-Expose-Headers", exposed] : []),
      ...(rule.origins === "*" ? [] : ["Vary", "Origin"]),
    ]);
    return false;
  }
  if (!isGranted) {
    const sentence = `Cannot answer a page of origin ${quote(origin ?? "")}: com.service.cors.origins of the function does not name it`;
    throw new PlatformError("cross_origin", sentence);
  }
  const asked = joinedValue(exchange.rawHeaders, "access-control-request-headers") ?? "";
  const headers = rule.headers ?? (fieldNames.test(asked) ? asked : "");
  exchange
    .writeHead(204, [
      ...grantTo(origin, rule),
      "Access-Control-Allow-Methods",
      rule.methods,
      ...(headers === "" ? [] : ["Access-Control-Allow-Headers", headers]),
      "Access-Control-Max-Age",
      String(rule.maxAgeSeconds),
      "Vary",
      "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    ])
    .end();
  return true;
}

function grantTo(origin: string, rule: CorsRule): string[] {
  return [
    "Access-Control-Allow-Origin",
    rule.origins === "*" ? "*" : origin,
    ...(rule.credentials ? ["Access-Control-Allow-Credentials", "true"] : []),
  ];
}

/** Replies are made at many places, so that what makes them is replaced for this one exchange. */
function addToReplies(exchange: Exchange, added: readonly string[]): void {
  if (added.length === 0) return;
  const writeHead = exchange.writeHead.bind(exchange);
  exchange.writeHead = (status, headers = [], cached) => {
    const own = [...withoutHeaders(flat(headers), ofRule), ...added];
    return writeHead(
      status,
      own,
      cached === undefined ? undefined : new CachedHeaders(withoutHeaders(cached.list, ofRule)),
    );
  };
}

function flat(headers: ReplyHeaders): readonly string[] {
  return isFlat(headers) ? headers : Object.entries(headers).flat();
}

function isFlat(headers: ReplyHeaders): headers is readonly string[] {
  return Array.isArray(headers);
}
