import { mutate } from "../../scripts/fuzz/mutate.ts";
import { below, pick, seededRandom, type Random } from "../../scripts/random.ts";

/** What a client sends on one connection, one character per byte. */
export interface Framing {
  readonly name: string;
  /** In the order they are sent. */
  readonly pieces: readonly string[];
}

/** The call that ends a framing: a server that is still in sync replies to it and closes. */
export function lastCall(name: string): string {
  return `GET /function/echo/${name}.last HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n`;
}

const methods = ["GET", "POST", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH"] as const;
const oddMethods = ["TRACE", "CONNECT", "FROB", "get", "GE T", "POST\t", ""] as const;
const versions = ["HTTP/1.0", "HTTP/1.2", "HTTP/0.9", "HTTP/2.0", "http/1.1", "HTTP/1.1 ", "HTTP/01.1", ""] as const;
const ends = ["\n", "\r", "\r\r\n", " \r\n", "\0\r\n", "\r\n "] as const;
const hosts = [
  "",
  "Host: g\r\nHost: h\r\n",
  "Host: g\r\nhost: g\r\n",
  "Host:\r\n",
  "Host : g\r\n",
  "Host: g:x\r\n",
] as const;
const others = [
  "Connection: close\r\n",
  "Connection: keep-alive\r\n",
  "Connection: Content-Length\r\n",
  "Connection: Transfer-Encoding\r\n",
  "Connection: close, X-Call-Id\r\n",
  "Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAA\r\nUpgrade: h2c\r\n",
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
  "Expect: 100-continue\r\n",
  "Expect: 200-ok\r\n",
  "X-A: 1\r\n 2\r\n",
  "X-A: 1\0\r\n",
  "X-A: 1\r2\r\n",
  "X-A: 1\nX-B: 2\r\n",
  "X-A : 1\r\n",
  "X-\xe9: 1\r\n",
  ": 1\r\n",
  "X-A\r\n",
  "X-Call-Id: a\r\nx_call_id: b\r\n",
  "Authorization: Basic a\r\nAuthorization: Basic b\r\n",
  "Keep-Alive: timeout=5\r\nTE: trailers\r\nTrailer: X-T\r\nProxy-Connection: close\r\n",
  "Content_Length: 3\r\nTransfer_Encoding: chunked\r\n",
  `X-Long: ${"a".repeat(5_000)}\r\n`,
] as const;
/** Headers with the right or a wrong length of a body of `size` bytes. */
const lengths = [
  "Content-Length: {less}\r\n",
  "Content-Length: {more}\r\n",
  "Content-Length: 0\r\n",
  "Content-Length: -1\r\n",
  "Content-Length: +{size}\r\n",
  "Content-Length: 0x{size}\r\n",
  "Content-Length: 00{size}\r\n",
  "Content-Length: {size} \r\n",
  "Content-Length:\t{size}\r\n",
  "Content-Length: {size}, {size}\r\n",
  "Content-Length: {size};a\r\n",
  "Content-Length : {size}\r\n",
  "Content-Length: \x0b{size}\r\n",
  "Content-Length: {size}\nX: y\r\n",
  "Content-Length:\r\n {size}\r\n",
  "Content-Length: 99999999999999999999\r\n",
  "Content-Length: 18446744073709551617\r\n",
  "Content-Length: {size}\r\nContent-Length: {size}\r\n",
  "Content-Length: {size}\r\nContent-Length: 0\r\n",
  "Content-Length: 0\r\nContent-Length: {size}\r\n",
  "Content-Length: {size}\r\nTransfer-Encoding: chunked\r\n",
  "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
  "Transfer-Encoding: identity\r\nContent-Length: {size}\r\n",
  "",
] as const;
const codings = [
  "Transfer-Encoding: Chunked\r\n",
  "Transfer-Encoding:chunked\r\n",
  "Transfer-Encoding: chunked \r\n",
  "Transfer-Encoding:\tchunked\r\n",
  "Transfer-Encoding: \x0bchunked\r\n",
  "Transfer-Encoding: chunked\x0c\r\n",
  "Transfer-Encoding : chunked\r\n",
  "Transfer-Encoding: xchunked\r\n",
  'Transfer-Encoding: "chunked"\r\n',
  "Transfer-Encoding: chunked;a=b\r\n",
  "Transfer-Encoding: chunked,\r\n",
  "Transfer-Encoding: ,chunked\r\n",
  "Transfer-Encoding: identity, chunked\r\n",
  "Transfer-Encoding: chunked, identity\r\n",
  "Transfer-Encoding: chunked, chunked\r\n",
  "Transfer-Encoding: gzip, chunked\r\n",
  "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
  "Transfer-Encoding:\r\n chunked\r\n",
  "Transfer-Encoding: x\r\n chunked\r\n",
  "X: y\nTransfer-Encoding: chunked\r\n",
  "X: y\rTransfer-Encoding: chunked\r\n",
  "Transfer_Encoding: chunked\r\n",
  "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
  "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
] as const;
const sizes = [
  "0x",
  "+",
  "-",
  " ",
  "\t",
  "0000000000000000000000",
  "1",
  "g",
  "fffffffffffffff",
  "10000000000000000",
] as const;
const extensions = [";a=b", ";a", ";", " ;a=b", ';a="b\nc"', ";a\rb", " x", "\t", `;${"a".repeat(200)}`] as const;
const trailers = [
  "X-T: 1\r\n",
  "Content-Length: 3\r\n",
  "Transfer-Encoding: chunked\r\n",
  "X T: 1\r\n",
  "X-T: 1\n",
  "Host: h\r\n",
] as const;
const words = [
  "\r\n",
  "\n",
  "\r",
  "\0",
  " ",
  "\t",
  ":",
  "0\r\n\r\n",
  "HTTP/1.1",
  "Content-Length: 3\r\n",
  "Transfer-Encoding: chunked\r\n",
].map((word) => Buffer.from(word, "latin1"));

/** A framing that depends on `seed` only: up to four requests, well-formed or nearly so. */
export function randomFraming(seed: number): Framing {
  const random = seededRandom(seed);
  const name = `f${seed}`;
  let bytes = "";
  for (let left = 1 + below(random, 3), index = 0; left > 0; left -= 1, index += 1) {
    bytes += randomRequest(random, `${name}.${index}`);
  }
  if (random() < 0.25) {
    const corpus: [Uint8Array] = [Buffer.from(bytes, "latin1")];
    bytes = Buffer.from(mutate({ corpus, words, maxBytes: 30_000 }, random)).toString("latin1");
  }
  return { name, pieces: split(bytes + lastCall(name), random) };
}

/** The framings of `count` seeds from `first` on. */
export function* randomFramings(first: number, count: number): Generator<Framing> {
  for (let seed = first; seed < first + count; seed += 1) yield randomFraming(seed);
}

/** Mostly `usual`, so that a request is odd in one or two ways only. */
function sometimes<T>(random: Random, share: number, odd: readonly [T, ...T[]], usual: T): T {
  return random() < share ? pick(random, odd) : usual;
}

function randomRequest(random: Random, tag: string): string {
  const method = sometimes(random, 0.03, oddMethods, pick(random, methods));
  const target = sometimes(random, 0.06, oddTargets(tag), pick(random, usualTargets(tag)));
  const version = sometimes(random, 0.05, versions, "HTTP/1.1");
  const host = sometimes(random, 0.04, hosts, "Host: g\r\n");
  const more = sometimes(random, 0.15, others, "");
  const end = (): string => sometimes(random, 0.02, ends, "\r\n");
  const hidden = `GET /function/echo/${tag}.hidden HTTP/1.1\r\nHost: g\r\n\r\n`;
  const body = pick(random, ["", "abc", hidden, "0\r\n\r\n", `0\r\n\r\n${hidden}`]);
  const first = `${method} ${target} ${version}${end()}`;
  if (body === "" && random() < 0.7) return `${first}${host}${more}${end()}`;
  if (random() < 0.5) {
    const length = sometimes(random, 0.35, lengths, "Content-Length: {size}\r\n")
      .replaceAll("{size}", String(body.length))
      .replaceAll("{less}", String(Math.max(0, body.length - 1)))
      .replaceAll("{more}", String(body.length + 1));
    return `${first}${host}${shuffled(random, length, more)}${end()}${body}`;
  }
  const coding = sometimes(random, 0.35, codings, "Transfer-Encoding: chunked\r\n");
  return `${first}${host}${shuffled(random, coding, more)}${end()}${chunksOf(random, body)}`;
}

function usualTargets(tag: string): [string, ...string[]] {
  return [
    `/function/echo/${tag}`,
    `/function/echo/${tag}`,
    `/function/echo/${tag}?a=b`,
    `/async-function/echo/${tag}`,
    `/system/info?${tag}`,
    `/function/none/${tag}`,
  ];
}

function oddTargets(tag: string): [string, ...string[]] {
  const usual = `/function/echo/${tag}`;
  return [
    `http://elsewhere${usual}`,
    `/${usual}`,
    `${usual}#x`,
    `${usual} x`,
    `${usual}/\xe9`,
    `${usual}/%00`,
    `*`,
    `${usual}/../../x`,
  ];
}

function shuffled(random: Random, one: string, other: string): string {
  return random() < 0.5 ? one + other : other + one;
}

function chunksOf(random: Random, body: string): string {
  const at = below(random, body.length + 1);
  const parts = [body.slice(0, at), body.slice(at)].filter((part) => part !== "");
  const end = (): string => sometimes(random, 0.04, ends, "\r\n");
  const chunks = parts.map((part) => {
    const digits = part.length.toString(16);
    const size = `${sometimes(random, 0.05, sizes, "")}${random() < 0.1 ? digits.toUpperCase() : digits}`;
    return `${size}${sometimes(random, 0.08, extensions, "")}${end()}${part}${end()}`;
  });
  const last = sometimes(random, 0.05, ["00", "0;a=b", "0 ", "", "000000000000000000"], "0");
  return `${chunks.join("")}${last}${end()}${sometimes(random, 0.1, trailers, "")}${end()}`;
}

/** Splits `bytes` into up to three chunks. */
function split(bytes: string, random: Random): string[] {
  const places = Array.from({ length: below(random, 3) }, () => below(random, bytes.length)).toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.slice(from, places[index])).filter((chunk) => chunk !== "");
}
