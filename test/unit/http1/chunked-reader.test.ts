import { describe, expect, test } from "vitest";

import { ChunkedReader } from "../../../runtime/http1/chunked-reader.ts";
import { cutAtRandom } from "../../support/read-answer.ts";

interface Reading {
  readonly data: string;
  readonly over: boolean;
  readonly fault: string | undefined;
  /** The bytes after the body. */
  readonly rest: string;
}

/** The result of reading a body in these parts. */
function read(parts: readonly Uint8Array[]): Reading {
  let data = "";
  let rest = "";
  const reader = new ChunkedReader((chunk) => (data += chunk.toString("latin1")));
  for (const part of parts) {
    const bytes = Buffer.from(part);
    const at = reader.read(bytes, 0);
    if (typeof at === "object") return { data, over: false, fault: String(at), rest };
    rest += bytes.toString("latin1", at);
  }
  return { data, over: reader.over, fault: undefined, rest };
}

const whole: readonly (readonly [name: string, text: string, data: string])[] = [
  ["nothing", "0\r\n\r\n", ""],
  ["chunks", "2\r\nab\r\nA\r\n0123456789\r\n0\r\n\r\n", "ab0123456789"],
  ["leading zeros", "0002\r\nab\r\n000\r\n\r\n", "ab"],
  ["line ends as data", "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"],
  ["extensions", '2;a;b=c;d="e\\" f"\r\nab\r\n0;x=""\r\n\r\n', "ab"],
  ["trailers", "1\r\na\r\n0\r\nX-Sum: 1\r\nX-B:\r\n\r\n", "a"],
];
const broken: readonly (readonly [name: string, text: string, fault: string])[] = [
  ["0x1", "0x1\r\na\r\n0\r\n\r\n", "a line that is not a chunk's size"],
  ["a sign", "+1\r\na\r\n", "a line that is not a chunk's size"],
  ["a space after the size", "1 \r\na\r\n", "a line that is not a chunk's size"],
  ["a space before an extension", "1 ;a\r\na\r\n", "a line that is not a chunk's size"],
  ["a bare LF", "1\na\n0\n\n", "a line that is not a chunk's size"],
  ["a lone CR in an extension", "1;a\rb\r\na\r\n", "a line that is not a chunk's size"],
  ["a size beyond safe integers", "fffffffffffffff\r\n", "a line that is not a chunk's size"],
  ["no size", "\r\n", "a line that is not a chunk's size"],
  ["data beyond its size", "1\r\nab\r\n", "a line that is not a chunk's end"],
  ["a chunk that ends in LF", "1\r\na\n0\r\n\r\n", "a line that is not a chunk's end"],
  ["a length among the trailers", "0\r\nContent-Length: 3\r\n\r\n", "a line that is not a trailer"],
  ["a coding among the trailers", "0\r\ntransfer-encoding: chunked\r\n\r\n", "a line that is not a trailer"],
  ["a folded trailer", "0\r\nX-A: 1\r\n 2\r\n\r\n", "a line that is not a trailer"],
  ["extensions over 16 KiB", `1;${"a".repeat(17_000)}\r\na\r\n`, "a line that is too long for a chunk's size"],
  ["trailers over 64 KiB", `0\r\n${"X-A: 1\r\n".repeat(9_000)}\r\n`, "a line that is too long for a trailer"],
];

describe("ChunkedReader", () => {
  test.each(whole)("reads %s, however it is split, and leaves what follows", (_name, text, data) => {
    const bytes = Buffer.from(`${text}GET / HTTP/1.1\r\n`, "latin1");
    const expected: Reading = { data, over: true, fault: undefined, rest: "GET / HTTP/1.1\r\n" };
    expect(read([bytes])).toEqual(expected);
    for (let seed = 0; seed < 20; seed += 1) expect(read(cutAtRandom(bytes, 3, seed))).toEqual(expected);
  });

  test.each(broken)("refuses %s, however it is split", (_name, text, fault) => {
    const bytes = Buffer.from(text, "latin1");
    expect(read([bytes])).toMatchObject({ over: false, fault });
    for (let seed = 0; seed < 5; seed += 1)
      expect(read(cutAtRandom(bytes, 300, seed)).fault).toMatch(/^a line that is (?:not|too long for) /);
  });

  test.each(whole)("waits while %s is incomplete", (_name, text) => {
    for (let end = 1; end < text.length; end += 1)
      expect(read([Buffer.from(text.slice(0, end), "latin1")])).toMatchObject({ over: false, fault: undefined });
  });
});
