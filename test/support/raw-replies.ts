import { responseLimits } from "../../runtime/http1/framing-rules.ts";

/** What a function writes, byte for byte, and what its caller must get, however many hops lie between. */
export interface RawReplyRow {
  readonly name: string;
  /** One character per byte. */
  readonly bytes: string;
  /** Written a little later, in a packet of its own. */
  readonly later?: string;
  readonly method?: "HEAD";
  /** Whether the function then ends the connection. */
  readonly ends?: boolean;
}

/** A reply that is whole, whatever follows it. */
export interface WholeReplyRow extends RawReplyRow {
  readonly status: number;
  readonly body: string;
}

/** A reply that is none: `why` is in the sentence that its caller gets. */
export interface BrokenReplyRow extends RawReplyRow {
  readonly kind: "malformed" | "reset";
  readonly why?: string;
}

const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
const json = '{"saved":true}';
const ok = "HTTP/1.1 200 OK\r\n";
const two = "Content-Length: 2\r\n\r\nok";
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
const bodiless = { status: 204, body: "" };

/** The reply of a replica to every call after the first. */
export const nextReply = `${ok}Content-Length: 4\r\n\r\nnext`;

export const wholeReplies: readonly WholeReplyRow[] = [
  { name: "204 with a body", bytes: `HTTP/1.1 204 None\r\n\r\n${json}`, ...bodiless },
  { name: "204 with a body a little later", bytes: "HTTP/1.1 204 None\r\n\r\n", later: json, ...bodiless },
  { name: "204 with a reply a little later", bytes: "HTTP/1.1 204 None\r\n\r\n", later: evil, ...bodiless },
  { name: "204 with a length", bytes: `HTTP/1.1 204 None\r\nContent-Length: 14\r\n\r\n${json}`, ...bodiless },
  {
    name: "204 in chunks",
    bytes: "HTTP/1.1 204 None\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ...bodiless,
  },
  { name: "304 with a body", bytes: `HTTP/1.1 304 Same\r\nETag: "1"\r\n\r\n${json}`, status: 304, body: "" },
  { name: "304 with a body a little later", bytes: "HTTP/1.1 304 Same\r\n\r\n", later: evil, status: 304, body: "" },
  { name: "HEAD with a body", bytes: `${ok}${two}`, method: "HEAD", status: 200, body: "" },
  { name: "HEAD with chunks", bytes: `${chunked}2\r\nok\r\n0\r\n\r\n`, method: "HEAD", status: 200, body: "" },
  {
    name: "HEAD with a body later",
    bytes: `${ok}Content-Length: 2\r\n\r\n`,
    later: evil,
    method: "HEAD",
    status: 200,
    body: "",
  },
  {
    name: "a length counted in characters",
    bytes: `${ok}Content-Length: 5\r\n\r\nh\xc3\xa9llo`,
    status: 200,
    body: "h\xc3\xa9ll",
  },
  { name: "a length of 0 with a body", bytes: `${ok}Content-Length: 0\r\n\r\n${json}`, status: 200, body: "" },
  { name: "a second reply", bytes: `${ok}${two}${evil}`, status: 200, body: "ok" },
  { name: "a line after chunks", bytes: `${chunked}2\r\nok\r\n0\r\n\r\n\r\n`, status: 200, body: "ok" },
  {
    name: "a reply after trailers",
    bytes: `${chunked}2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n${evil}`,
    status: 200,
    body: "ok",
  },
  {
    name: "bytes after a long body",
    bytes: `${ok}Content-Length: 300000\r\n\r\n${"x".repeat(300_000)}${evil}`,
    status: 200,
    body: "x".repeat(300_000),
  },
  { name: "a status of an error with a body too long", bytes: `HTTP/1.1 404 No\r\n${two}ok`, status: 404, body: "ok" },
  {
    name: "10 interim replies before it",
    bytes: `${"HTTP/1.1 103 Early\r\n\r\n".repeat(10)}${ok}${two}${evil}`,
    status: 200,
    body: "ok",
  },
  { name: "a head of almost 64 KiB", bytes: `${ok}X-A: ${"a".repeat(64_000)}\r\n${two}`, status: 200, body: "ok" },
  { name: "HTTP/1.0 until the end", bytes: "HTTP/1.0 200 OK\r\n\r\nrest", ends: true, status: 200, body: "rest" },
  {
    name: "HTTP/1.0 with a length and more",
    bytes: `HTTP/1.0 200 OK\r\n${two}${evil}`,
    ends: true,
    status: 200,
    body: "ok",
  },
];

const malformed = "malformed";
const reset = "reset";

export const brokenReplies: readonly BrokenReplyRow[] = [
  {
    name: "a coding before chunked",
    bytes: `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    kind: malformed,
    why: 'transfer coding other than "chunked"',
  },
  {
    name: "xchunked",
    bytes: `${ok}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    kind: malformed,
    why: 'transfer coding other than "chunked"',
  },
  { name: "gzip", bytes: `${ok}Transfer-Encoding: gzip\r\n\r\nok`, kind: malformed, why: "transfer coding" },
  {
    name: "two lengths",
    bytes: `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`,
    kind: malformed,
    why: "two lengths",
  },
  {
    name: "a length and chunks",
    bytes: `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    kind: malformed,
    why: "a length and a transfer coding",
  },
  {
    name: "a head over 64 KiB",
    bytes: `${ok}X-A: ${"a".repeat(66_000)}\r\n${two}`,
    kind: malformed,
    why: `the limit of ${responseLimits.head} bytes`,
  },
  {
    name: "11 interim replies",
    bytes: `${"HTTP/1.1 103 Early\r\n\r\n".repeat(11)}${ok}${two}`,
    kind: malformed,
    why: "more than 10 interim responses",
  },
  {
    name: "a switch of protocols that nobody asked for",
    bytes: "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n",
    kind: malformed,
    why: "a switch to a protocol",
  },
  {
    name: "a bad chunk, together with its head",
    bytes: `${chunked}0x2\r\nok\r\n0\r\n\r\n`,
    kind: malformed,
    why: "a chunk's size",
  },
  { name: "no HTTP", bytes: "hello\r\n\r\n", kind: malformed, why: "status line" },
  { name: "nothing", bytes: "", ends: true, kind: reset },
  { name: "half a head", bytes: "HTTP/1.1 200 OK\r\nCont", ends: true, kind: reset },
  { name: "a part of its body", bytes: `${ok}Content-Length: 9\r\n\r\nhalf`, ends: true, kind: reset },
  { name: "some of its chunks", bytes: `${chunked}4\r\nhalf\r\n`, ends: true, kind: reset },
];
