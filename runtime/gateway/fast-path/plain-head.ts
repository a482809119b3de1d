import { headerLine, isBlank } from "../../core/http-grammar.ts";
import type { RequestHead } from "../invocation/request-head.ts";
import { asyncFunctionPrefix } from "../invocation/split-target.ts";

/** The head of a plain request: nothing but what its text says. */
export interface PlainHead {
  /** To the empty line, one character per byte. */
  readonly text: string;
  readonly method: string;
  /** As sent. */
  readonly target: string;
  /** Flat: name, value, …; as sent. */
  readonly rawHeaders: readonly string[];
  /** Bytes of the body. */
  readonly length: number;
  /** What it means on its connection, once that was looked at, if it means the same each time. */
  understood: RequestHead | undefined;
}

/** A request whose head came whole in one piece of bytes, with all of its body or a part, and nothing behind it. */
export interface PlainRequestParts {
  readonly head: PlainHead;
  /** What came of the body; undefined if nothing did. */
  readonly body: Buffer | undefined;
}

/** Longer heads are left to the server. */
const headLimit = 8_192;
const headEnd = Buffer.from("\r\n\r\n");
const requestLine = /(GET|POST|PUT|PATCH|DELETE) (\/(?:async-)?function\/[!"$-~]*) HTTP\/1\.1\r\n/y;
const headerLines = new RegExp(`(?:${headerLine})+\\r\\n`, "y");
const space = 0x20;
const plainLength = /^\d{1,15}$/;

/** Say how the request is framed, or what becomes of its connection: who sends one of them is served by node:http. */
const others: ReadonlySet<string> = new Set([
  "expect",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const otherLengths: ReadonlySet<number> = new Set([...others].map((name) => name.length));

/**
 * Reads `bytes` if they are one call, its body begun at least, in the plainest form of HTTP/1.1 (RFC 9112): its grammar followed to the
 * letter, one line per header, framed by nothing but one `Content-Length`, on a connection that goes on. Undefined for all
 * else, which is not wrong for that: it is for node:http to judge, and to refuse. `last` is a head that was read before,
 * which clients often repeat: the same bytes are not read twice.
 */
export function readPlainRequest(bytes: Buffer, last?: PlainHead): PlainRequestParts | undefined {
  const found = bytes.indexOf(headEnd);
  if (found === -1 || found > headLimit) return undefined;
  const end = found + headEnd.length;
  const text = bytes.toString("latin1", 0, end);
  const head = last?.text === text ? last : readHead(text);
  if (head === undefined || head.length < bytes.length - end) return undefined;
  return { head, body: end === bytes.length ? undefined : bytes.subarray(end) };
}

function readHead(text: string): PlainHead | undefined {
  requestLine.lastIndex = 0;
  const line = requestLine.exec(text);
  if (line === null) return undefined;
  const [, method = "", target = ""] = line;
  // The status of a call, its result and its end are asked for, not called.
  if (method !== "POST" && target.startsWith(asyncFunctionPrefix)) return undefined;
  headerLines.lastIndex = requestLine.lastIndex;
  if (!headerLines.test(text) || headerLines.lastIndex !== text.length) return undefined;
  const rawHeaders: string[] = [];
  const length = readHeaders(text, requestLine.lastIndex, text.length - 2, rawHeaders);
  return length === -1 ? undefined : { text, method, target, rawHeaders, length, understood: undefined };
}

/** Adds the lines from `from` to `to`, which are well-formed, to `rawHeaders`; gives the length of the body, -1 if they are not plain. */
function readHeaders(text: string, from: number, to: number, rawHeaders: string[]): number {
  let length: number | undefined;
  let at = from;
  while (at < to) {
    const colon = text.indexOf(":", at);
    const lineEnd = text.indexOf("\r", colon);
    const name = text.slice(at, colon);
    let start = colon + 1;
    if (text.charCodeAt(start) === space) start += 1;
    // Which blanks belong to a value is not for two to decide.
    if (start < lineEnd && (isBlank(text.charCodeAt(start)) || isBlank(text.charCodeAt(lineEnd - 1)))) return -1;
    const value = text.slice(start, lineEnd);
    if (name.length === 14 && name.toLowerCase() === "content-length") {
      if (length !== undefined || !plainLength.test(value)) return -1;
      length = Number(value);
    } else if (name.length === 10 && name.toLowerCase() === "connection") {
      if (value !== "keep-alive" && value !== "Keep-Alive") return -1;
    } else if (otherLengths.has(name.length) && others.has(name.toLowerCase())) {
      return -1;
    }
    rawHeaders.push(name, value);
    at = lineEnd + 2;
  }
  return length ?? 0;
}
