import { header } from "../../../api/names.ts";
import { connectionOptions } from "../../../api/http-grammar.ts";
import { isHopByHop, isSimpleConnection } from "../../../core/headers/hop-by-hop.ts";
import { withoutHeaders } from "../../../core/headers/header-list.ts";
import { setsSessionCookie } from "../../../core/headers/session-cookies.ts";
import { CachedHeaders } from "../../../core/headers/cached-headers.ts";
import { HeaderKinds } from "./header-kinds.ts";

const replyHeader = { pass: 0, hop: 1, connection: 2, replaced: 3, duration: 4, cookie: 5 } as const;
type ReplyHeaderKind = (typeof replyHeader)[keyof typeof replyHeader];

const kinds = new HeaderKinds<ReplyHeaderKind>(
  new Map<string, ReplyHeaderKind>([
    ["connection", replyHeader.connection],
    [header.callId.toLowerCase(), replyHeader.replaced],
    [header.startTime.toLowerCase(), replyHeader.replaced],
    [header.durationSeconds.toLowerCase(), replyHeader.duration],
    [header.weirAuth.toLowerCase(), replyHeader.hop],
    ["set-cookie", replyHeader.cookie],
  ]),
  { twin: replyHeader.hop, other: (lowerName) => (isHopByHop(lowerName) ? replyHeader.hop : replyHeader.pass) },
);

const lengthOnly: ReadonlySet<string> = new Set(["content-length"]);

/** Facts of a call that the gateway adds to its reply. */
export interface ReplyFacts {
  readonly callId: string;
  /** Unix nanoseconds. */
  readonly startTime: string;
  /** Milliseconds to the reply's head. */
  readonly duration: number;
}

const switching = 101;
const firstFinal = 200;
const noContent = 204;

/** The function's headers that are passed on to the client. */
export class PassedHeaders extends CachedHeaders {
  readonly hasDuration: boolean;

  constructor(list: readonly string[], hasDuration: boolean) {
    super(list);
    this.hasDuration = hasDuration;
  }
}

/**
 * The function's headers in order, without hop-by-hop headers, those that `Connection` names and those that the gateway
 * sets itself. A 204 and an interim response have no length, whatever the function says (RFC 9110 §8.6).
 */
export function passedHeaders(status: number, headers: readonly string[]): PassedHeaders {
  let reply: string[] = [];
  let named: string[] | undefined;
  let hasDuration = false;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    const value = headers[index + 1] ?? "";
    switch (kinds.of(name)) {
      case replyHeader.pass:
        reply.push(name, value);
        break;
      case replyHeader.duration:
        hasDuration = true;
        reply.push(name, value);
        break;
      case replyHeader.cookie:
        if (!setsSessionCookie(value)) reply.push(name, value);
        break;
      case replyHeader.connection:
        if (!isSimpleConnection(value)) named = [...(named ?? []), ...connectionOptions(value)];
        break;
      default:
        break;
    }
  }
  if (named !== undefined) reply = withoutNamed(reply, named);
  if (status === noContent || status < firstFinal) reply = withoutHeaders(reply, lengthOnly);
  return new PassedHeaders(reply, hasDuration);
}

/** Headers after the function's: `X-Call-Id`, `X-Start-Time` and, unless the function set it, `X-Duration-Seconds`. */
export function addedHeaders({ hasDuration }: PassedHeaders, facts: ReplyFacts): string[] {
  const added = [header.callId, facts.callId, header.startTime, facts.startTime];
  if (!hasDuration) added.push(header.durationSeconds, (facts.duration / 1_000).toFixed(6));
  return added;
}

/** The headers of the 101 that opens a WebSocket. */
export function upgradeHeaders(headers: readonly string[], facts: ReplyFacts): string[] {
  const passed = passedHeaders(switching, headers);
  return [...passed.list, ...addedHeaders(passed, facts), "Connection", "Upgrade", "Upgrade", "websocket"];
}

/**
 * Keeps `Content-Length` even if `Connection` names it: without it the reply would be framed differently than it was
 * sent.
 */
function withoutNamed(headers: readonly string[], named: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    const lowerName = name.toLowerCase();
    if (lowerName === "content-length" || !named.includes(lowerName)) kept.push(name, headers[index + 1] ?? "");
  }
  return kept;
}
