import { asyncFunctionPrefix } from "../invocation/split-target.ts";

/** A request whose head came whole in one piece of bytes, with all of its body or a part, and nothing behind it. */
export interface PlainRequestParts {
  readonly method: string;
  /** As sent. */
  readonly target: string;
  /** Flat: name, value, …; as sent. */
  readonly rawHeaders: string[];
  /** Bytes of its body. */
  readonly length: number;
  /** What came of the body; undefined if nothing did. */
  readonly body: Buffer | undefined;
}

/** Longer heads are left to the server. */
const headLimit = 8_192;
const headEnd = Buffer.from("\r\n\r\n");
const requestLine = /(GET|POST|PUT|PATCH|DELETE) (\/(?:async-)?function\/[!"$-~]*) HTTP\/1\.1\r\n/y;
const headerLines = /(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)+\r\n/y;
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
 * else, which is not wrong for that: it is for node:http to judge, and to refuse.
 */
export function readPlainRequest(bytes: Buffer): PlainRequestParts | undefined {
  const found = bytes.indexOf(headEnd);
  if (found === -1 || found > headLimit) return undefined;
  const end = found + headEnd.length;
  const text = bytes.toString("latin1", 0, end);
  requestLine.lastIndex = 0;
  const line = requestLine.exec(text);
  if (line === null) return undefined;
  const [, method = "", target = ""] = line;
  // The status of a call, its result and its end are asked for, not called.
  if (method !== "POST" && target.startsWith(asyncFunctionPrefix)) return undefined;
  headerLines.lastIndex = requestLine.lastIndex;
  if (!headerLines.test(text) || headerLines.lastIndex !== end) return undefined;
  const rawHeaders: string[] = [];
  const length = readHeaders(text, requestLine.lastIndex, end - 2, rawHeaders);
  if (length < bytes.length - end) return undefined;
  return { method, target, rawHeaders, length, body: end === bytes.length ? undefined : bytes.subarray(end) };
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

const space = 0x20;
const isBlank = (code: number): boolean => code === space || code === 0x09;
