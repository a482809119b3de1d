import { describe, expect, test } from "vitest";

import { cutAtRandom, readAnswer, type AnswerReading, type Asked } from "../../support/read-answer.ts";

type Expected = Partial<Omit<AnswerReading, "headers">> & { readonly headers?: readonly string[] };
type BadHead = readonly [name: string, text: string, asked?: Asked];
type Row = readonly [name: string, text: string, expected: Expected, asked?: Asked];

const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
const whole: Expected = { status: 200, outcome: "whole", persistent: true };
const switching = "HTTP/1.1 101 Switching Protocols\r\n";
const asksWebSocket: Asked = { upgrade: "websocket" };

const good: readonly Row[] = [
  ["a length", `${ok}Content-Length: 2\r\n\r\nok`, { ...whole, body: "ok", headers: ["Content-Length", "2"] }],
  ["no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", { ...whole, body: "" }],
  ["an empty reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", whole],
  [
    "bytes above ASCII",
    `HTTP/1.1 200 \xe9\r\nX: na\xefve\r\nContent-Length: 1\r\n\r\n\xff`,
    { ...whole, body: "\xff" },
  ],
  [
    "whitespace around values, and empty values",
    `${ok}A:1\r\nB: \t 2 \t\r\nC:\r\nD:  \r\nContent-Length: 0\r\n\r\n`,
    { ...whole, headers: ["A", "1", "B", "2", "C", "", "D", "", "Content-Length", "0"] },
  ],
  ["every character of a name", `${ok}!#$%&'*+-.^_\`|~09azAZ: 1\r\nContent-Length: 0\r\n\r\n`, whole],
  ["names in any case", `${ok}cOnTeNt-LeNgTh: 2\r\n\r\nok`, { ...whole, body: "ok" }],
  ["a length with leading zeros", `${ok}Content-Length: 0002\r\n\r\nok`, { ...whole, body: "ok" }],
  ["chunks", `${chunked}2\r\nok\r\n0b\r\nhello world\r\n0\r\n\r\n`, { ...whole, body: "okhello world" }],
  ["Chunked", `${ok}Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`, whole],
  ["chunks with extensions", `${chunked}2;a;b=c;d="e \\" ;f"\r\nok\r\n0;z\r\n\r\n`, { ...whole, body: "ok" }],
  [
    "100 that was not expected",
    `HTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 2\r\n\r\nok`,
    { ...whole, body: "ok" },
  ],
  ["trailers", `${chunked}0\r\nX-Sum: 1\r\nX-B:\r\n\r\n`, { ...whole, body: "" }],
  [
    "a chunk with text that looks like an end",
    `${chunked}5\r\n0\r\n\r\n\r\n0\r\n\r\n`,
    { ...whole, body: "0\r\n\r\n" },
  ],
  [
    "until the connection ends",
    `${ok}\r\nrest`,
    { status: 200, outcome: "whole", persistent: false, body: "rest" },
    { ends: true },
  ],
  ["nothing until the connection ends", `${ok}\r\n`, { outcome: "whole", persistent: false, body: "" }, { ends: true }],
  ["Connection: close", `${ok}Connection: close\r\nContent-Length: 0\r\n\r\n`, { ...whole, persistent: false }],
  ["close among others", `${ok}Connection: x, Close\r\nContent-Length: 0\r\n\r\n`, { ...whole, persistent: false }],
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", { ...whole, persistent: false, body: "ok" }],
  ["HTTP/1.0 kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", whole],
  ["a response to HEAD", `${ok}Content-Length: 9\r\n\r\n`, { ...whole, body: "" }, { headOnly: true }],
  ["a response to HEAD without length", `${ok}\r\n`, { ...whole, body: "" }, { headOnly: true }],
  ["204", "HTTP/1.1 204 No\r\n\r\n", { ...whole, status: 204 }],
  ["204 with a length", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n", { ...whole, status: 204, persistent: false }],
  ["304 with a length", "HTTP/1.1 304 Same\r\nContent-Length: 2\r\n\r\n", { status: 304, outcome: "whole", body: "" }],
  ["599", "HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n", { ...whole, status: 599 }],
  ["interim responses", `${"HTTP/1.1 103 Early\r\nLink: a\r\n\r\n".repeat(10)}${ok}Content-Length: 0\r\n\r\n`, whole],
  ["a second response", `${ok}Content-Length: 2\r\n\r\nok${ok}`, { ...whole, persistent: false, body: "ok" }],
  ["bytes after 204", "HTTP/1.1 204 No\r\n\r\nevil", { ...whole, status: 204, persistent: false, body: "" }],
  ["bytes after chunks", `${chunked}0\r\n\r\n\r\n`, { ...whole, persistent: false, body: "" }],
  ["an upgrade offered with 200", `${ok}Upgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 0\r\n\r\n`, whole],
  [
    "an upgrade to WebSocket",
    `${switching}Upgrade: WebSocket\r\nConnection: Upgrade\r\n\r\n\x81\x00`,
    { outcome: "switched", rest: "\x81\x00" },
    asksWebSocket,
  ],
  ["WebSocket refused", `HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno`, { status: 403, body: "no" }, asksWebSocket],
  ["a head of 64 KiB", `${ok}Content-Length: 0\r\nX: ${"a".repeat(65_536 - 43)}\r\n\r\n`, whole],
  ["a length without its bytes", `${ok}Content-Length: 3\r\n\r\nok`, { outcome: "cut", body: "ok" }, { ends: true }],
  ["chunks without an end", `${chunked}2\r\nok\r\n`, { outcome: "cut", body: "ok" }, { ends: true }],
  ["half a head", `${ok}Conte`, { outcome: "cut", status: 0 }, { ends: true }],
  ["nothing", "", { outcome: "cut" }, { ends: true }],
  ["a length still to come", `${ok}Content-Length: 3\r\n\r\nok`, { outcome: "open", body: "ok" }],
];

const badHeads: readonly BadHead[] = [
  ["no HTTP", "hello\r\n\r\n"],
  ["no HTTP, and no end of a line", "\x15\x03\x01"],
  ["an empty line before", `\r\n${ok}\r\n`],
  ["HTTP/1.9", "HTTP/1.9 200 OK\r\n\r\n"],
  ["HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n"],
  ["http in lower case", "http/1.1 200 OK\r\n\r\n"],
  ["two spaces before the status", "HTTP/1.1  200 OK\r\n\r\n"],
  ["a status of two digits", "HTTP/1.1 99 OK\r\n\r\n"],
  ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["a control byte in the reason", "HTTP/1.1 200 O\x01K\r\n\r\n"],
  ["status 000", "HTTP/1.1 000 OK\r\n\r\n"],
  ["status 099", "HTTP/1.1 099 OK\r\n\r\n"],
  ["status 600", "HTTP/1.1 600 OK\r\n\r\n"],
  ["11 interim responses", `${"HTTP/1.1 103 Early\r\n\r\n".repeat(11)}${ok}\r\n`],
  ["an interim response of HTTP/1.0", `HTTP/1.0 103 Early\r\n\r\n${ok}\r\n`],
  ["an interim response that closes", `HTTP/1.1 103 Early\r\nConnection: close\r\n\r\n${ok}\r\n`],
  ["101 that was not requested", `${switching}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`],
  ["101 to something else", `${switching}Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n`, asksWebSocket],
  ["101 without Upgrade", `${switching}Connection: Upgrade\r\n\r\n`, asksWebSocket],
  ["101 without Connection", `${switching}Upgrade: websocket\r\n\r\n`, asksWebSocket],
  ["bare LF", "HTTP/1.1 200 OK\nX: 1\n\n"],
  ["bare LF after a header", `${ok}X: 1\nY: 2\r\n\r\n`],
  ["bare CR in a value", `${ok}X: 1\r2\r\n\r\n`],
  ["CR before CRLF", `${ok}X: 1\r\r\n\r\n`],
  ["NUL in a value", `${ok}X: a\0b\r\n\r\n`],
  ["DEL in a value", `${ok}X: a\x7fb\r\n\r\n`],
  ["a folded header", `${ok}X: 1\r\n 2\r\n\r\n`],
  ["a folded header with a tab", `${ok}X: 1\r\n\t2\r\n\r\n`],
  ["a space before the first header", `${ok} X: 1\r\n\r\n`],
  ["a space before the colon", `${ok}X : 1\r\n\r\n`],
  ["a space in a name", `${ok}X Y: 1\r\n\r\n`],
  ["no name", `${ok}: 1\r\n\r\n`],
  ["no colon", `${ok}X\r\n\r\n`],
  ["a byte above ASCII in a name", `${ok}\xe9: 1\r\n\r\n`],
  ["a head over 64 KiB", `${ok}X: ${"a".repeat(65_536)}\r\n\r\n`],
  ["a head over 64 KiB of many headers", `${ok}${"X: 1\r\n".repeat(11_000)}\r\n`],
  ["two lengths", `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\n`],
  ["two equal lengths", `${ok}Content-Length: 2\r\ncontent-length: 2\r\n\r\n`],
  ["a list of lengths", `${ok}Content-Length: 2, 2\r\n\r\n`],
  ["an empty length", `${ok}Content-Length: \r\n\r\n`],
  ["length +2", `${ok}Content-Length: +2\r\n\r\n`],
  ["length -1", `${ok}Content-Length: -1\r\n\r\n`],
  ["length 0x2", `${ok}Content-Length: 0x2\r\n\r\n`],
  ["length 2.0", `${ok}Content-Length: 2.0\r\n\r\n`],
  ["a length beyond safe integers", `${ok}Content-Length: 9007199254740993\r\n\r\n`],
  ["length and chunked", `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`],
  ["chunked and length", `${ok}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n`],
  ["chunked twice", `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`],
  ["gzip, chunked", `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`],
  ["identity", `${ok}Transfer-Encoding: identity\r\n\r\n`],
  ["xchunked", `${ok}Transfer-Encoding: xchunked\r\n\r\n`],
  ["chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
];

const badChunks: readonly (readonly [name: string, chunks: string])[] = [
  ["no size", "\r\n"],
  ["size 0x2", "0x2\r\nok\r\n"],
  ["size +2", "+2\r\nok\r\n"],
  ["size -2", "-2\r\nok\r\n"],
  ["size zz", "zz\r\n"],
  ["a space before the size", " 2\r\nok\r\n"],
  ["a space after the size", "2 \r\nok\r\n"],
  ["a size beyond safe integers", "20000000000000\r\n"],
  ["a size of 17 digits", "00000000000000002\r\nok\r\n"],
  ["a bare LF after the size", "2\nok\r\n"],
  ["a bare CR in an extension", "2;a\rb\r\nok\r\n"],
  ["an extension without a name", "2;=b\r\nok\r\n"],
  ["an extension of 17 000 bytes", `2;${"a".repeat(17_000)}\r\nok\r\n`],
  ["no line's end behind a chunk", "2\r\nok0\r\n\r\n"],
  ["a chunk longer than its size", "2\r\nokay\r\n0\r\n\r\n"],
  ["a bare LF after a chunk", "2\r\nok\n0\r\n\r\n"],
  ["a folded trailer", "0\r\nX: 1\r\n 2\r\n\r\n"],
  ["a trailer without colon", "0\r\nX\r\n\r\n"],
  ["a length among its trailers", "0\r\nX-Sum: 1\r\ncontent-length: 9\r\n\r\n"],
  ["trailers over 64 KiB", `0\r\n${"X: 1\r\n".repeat(11_000)}\r\n`],
];

/** The response whole, byte by byte, and in parts of any length: all must be read the same. */
function everyWay(text: string, asked: Asked | undefined): AnswerReading[] {
  const bytes = Buffer.from(text, "latin1");
  const ways = [[bytes], cutAtRandom(bytes, 1, 0)];
  for (const most of [3, 20, 300]) for (let seed = 1; seed <= 4; seed += 1) ways.push(cutAtRandom(bytes, most, seed));
  return ways.map((parts) => readAnswer(parts, asked));
}

describe("however it is split, a response is read:", () => {
  for (const [name, text, expected, asked] of good)
    test(name, () => {
      for (const reading of everyWay(text, asked)) expect(reading).toMatchObject(expected);
    });
});

describe("however it is split, a response is malformed with", () => {
  for (const [name, text, asked] of badHeads)
    test(name, () => {
      for (const reading of everyWay(text, asked)) expect(reading).toMatchObject({ status: 0, outcome: "malformed" });
    });

  for (const [name, chunks] of badChunks)
    test(name, () => {
      for (const reading of everyWay(chunked + chunks, {})) expect(reading.outcome).toBe("malformed");
    });
});
