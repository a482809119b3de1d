import { describe, expect, test } from "vitest";

import { HeadCache } from "../../../runtime/http1/head-cache.ts";
import { HeadAssembler } from "../../../runtime/http1/head-assembler.ts";
import { requestHeads, type HeadRefusal, type RequestText } from "../../../runtime/http1/request-text.ts";
import { cutAtRandom } from "../../support/read-answer.ts";

type Reading =
  | { readonly kind: "whole"; readonly head: RequestText; readonly rest: string }
  | { readonly kind: "open" }
  | { readonly kind: "refused"; readonly refusal: HeadRefusal };

/** The result of reading a head in these parts. */
function read(parts: readonly Uint8Array[], cache = new HeadCache<RequestText>()): Reading {
  const reader = new HeadAssembler(requestHeads, cache);
  for (const part of parts) {
    const bytes = Buffer.from(part);
    const at = reader.read(bytes, 0);
    if (typeof at !== "number") return { kind: "refused", refusal: at };
    if (at !== -1) return { kind: "whole", head: reader.head, rest: bytes.toString("latin1", at) };
  }
  return { kind: "open" };
}

const bytes = (text: string): Buffer => Buffer.from(text, "latin1");

const good: readonly (readonly [name: string, text: string, head: Partial<RequestText>])[] = [
  [
    "a call",
    "GET /function/a%20b?c=d HTTP/1.1\r\nHost: g\r\n\r\n",
    { method: "GET", target: "/function/a%20b?c=d", version: "1.1", rawHeaders: ["Host", "g"] },
  ],
  ["no headers", "GET / HTTP/1.0\r\n\r\n", { version: "1.0", rawHeaders: [] }],
  ["any token", "!#$%&'*+-.^_`|~09azAZ / HTTP/1.1\r\n\r\n", { method: "!#$%&'*+-.^_`|~09azAZ" }],
  ["bytes above ASCII in the target", "GET /\xe9 HTTP/1.1\r\n\r\n", { target: "/\xe9" }],
  ["a target in absolute form", "GET http://g/ HTTP/1.1\r\n\r\n", { target: "http://g/" }],
  [
    "whitespace around values, and empty values",
    "GET / HTTP/1.1\r\nA:1\r\nB: \t 2 \t\r\nC:\r\nD:  \r\nE: \xe9\tf\r\n\r\n",
    { rawHeaders: ["A", "1", "B", "2", "C", "", "D", "", "E", "\xe9\tf"] },
  ],
  [
    "tabs, which stay in values that frame the body",
    "POST / HTTP/1.1\r\nContent-Length: 1\t\r\ntransfer-encoding:\tchunked \r\n\r\n",
    { rawHeaders: ["Content-Length", "1\t", "transfer-encoding", "\tchunked"] },
  ],
];

const bad: readonly (readonly [name: string, text: string])[] = [
  ["an empty line before", "\r\nGET / HTTP/1.1\r\n\r\n"],
  ["two spaces before the target", "GET  / HTTP/1.1\r\n\r\n"],
  ["two spaces before the version", "GET /  HTTP/1.1\r\n\r\n"],
  ["a space after the version", "GET / HTTP/1.1 \r\n\r\n"],
  ["a space before the method", " GET / HTTP/1.1\r\n\r\n"],
  ["a tab for a space", "GET\t/ HTTP/1.1\r\n\r\n"],
  ["a space in the target", "GET / x HTTP/1.1\r\n\r\n"],
  ["no version", "GET /\r\n\r\n"],
  ["RTSP", "GET / RTSP/1.0\r\n\r\n"],
  ["ICE", "SOURCE / ICE/1.0\r\n\r\n"],
  ["a version in lower case", "GET / http/1.1\r\n\r\n"],
  ["HTTP/1.2", "GET / HTTP/1.2\r\n\r\n"],
  ["HTTP/2.0", "PRI * HTTP/2.0\r\n\r\n"],
  ["a bare LF", "GET / HTTP/1.1\nHost: g\n\n"],
  ["a bare LF after a value", "GET / HTTP/1.1\r\nA: 1\nB: 2\r\n\r\n"],
  ["a lone CR", "GET / HTTP/1.1\r\nA: 1\r2\r\n\r\n"],
  ["a lone CR after a line", "GET / HTTP/1.1\r\r\nA: 1\r\n\r\n"],
  ["NUL", "GET / HTTP/1.1\r\nA: 1\0\r\n\r\n"],
  ["a folded line", "GET / HTTP/1.1\r\nA: 1\r\n 2\r\n\r\n"],
  ["a first header that begins with a space", "GET / HTTP/1.1\r\n A: 1\r\n\r\n"],
  ["a space before the colon", "GET / HTTP/1.1\r\nA : 1\r\n\r\n"],
  ["no colon", "GET / HTTP/1.1\r\nA\r\n\r\n"],
  ["no name", "GET / HTTP/1.1\r\n: 1\r\n\r\n"],
  ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
];

describe("heads of requests", () => {
  test.each(good)("%s", (_name, text, expected) => {
    for (const parts of [[bytes(`${text}rest`)], cutAtRandom(bytes(text), 1, 1), cutAtRandom(bytes(text), 7, 2)]) {
      const reading = read(parts);
      if (reading.kind !== "whole") throw new Error(JSON.stringify(reading));
      expect(reading.head).toMatchObject(expected);
    }
    expect(read([bytes(`${text}rest`)])).toMatchObject({ rest: "rest" });
  });

  test.each(good)("%s is read on until its end", (_name, text) => {
    for (let end = 1; end < text.length; end += 1) {
      expect(read([bytes(text.slice(0, end))]).kind).toBe("open");
      expect(read(cutAtRandom(bytes(text.slice(0, end)), 4, end)).kind).toBe("open");
    }
  });

  test.each(bad)("%s is refused, however it is split", (_name, text) => {
    for (const parts of [[bytes(text)], cutAtRandom(bytes(text), 1, 1), cutAtRandom(bytes(text), 5, 2)])
      expect(read(parts)).toMatchObject({ kind: "refused", refusal: { code: "malformed_request" } });
  });

  test("what cannot become a head is refused before its end", () => {
    for (const text of ["\r", "GET  ", "GET /a\x01", "GET / HTTP/1.1\r\nA: 1\n", "G\xe9"])
      expect(read([bytes(text)]).kind).toBe("refused");
  });

  test.each([16_384, 16_385])("of %i bytes", (size) => {
    const line = "GET / HTTP/1.1\r\nA: ";
    const text = `${line}${"a".repeat(size - line.length - 4)}\r\n\r\n`;
    const expected = size === 16_384 ? { kind: "whole" } : { kind: "refused", refusal: { code: "headers_too_large" } };
    for (const most of [20_000, 1_000])
      expect(read(cutAtRandom(bytes(`${text}body`), most, 3))).toMatchObject(expected);
  });

  test("the same bytes give the identical head, whatever follows; other bytes do not", () => {
    const cache = new HeadCache<RequestText>();
    const text = "GET / HTTP/1.1\r\nHost: g\r\n\r\n";
    const heads = [text, `${text}body`, text.replace("g", "h"), text].map((each) => read([bytes(each)], cache));
    const [first, again, other, third] = heads.map((each) => (each.kind === "whole" ? each.head : undefined));
    expect(again).toBe(first);
    expect(other?.rawHeaders).toEqual(["Host", "h"]);
    expect(third).not.toBe(first);
    expect(third).toEqual(first);
  });
});
