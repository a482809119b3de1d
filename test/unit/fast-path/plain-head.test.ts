import { describe, expect, test } from "vitest";

import { readPlainRequest } from "../../../runtime/gateway/fast-path/plain-head.ts";
import { malformedRequests, withTarget } from "../../support/raw-requests.ts";
import { readRequestAsNode } from "../../support/read-request.ts";

const bytes = (text: string): Buffer => Buffer.from(text, "latin1");
const read = (text: string) => readPlainRequest(bytes(text));

describe("readPlainRequest()", () => {
  const plain: readonly (readonly [name: string, text: string])[] = [
    ["a call without a body", "GET /function/echo HTTP/1.1\r\nHost: g\r\n\r\n"],
    ["a body", "POST /function/echo/a?b=c HTTP/1.1\r\nHost: g\r\ncontent-LENGTH: 3\r\n\r\nabc"],
    ["a body that looks like a request", "PUT /function/a HTTP/1.1\r\nHost: g\r\nContent-Length: 8\r\n\r\nGET /\r\n\r"],
    ["a body of nothing", "DELETE /function/a HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n"],
    ["an asynchronous call", "POST /async-function/a HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\n\r\n\xff"],
    ["bytes above ASCII, tabs and no blank", "PATCH /function/a HTTP/1.1\r\nHost:g\r\nX-A: \xe9\t\xff\r\nX-B:\r\n\r\n"],
    ["two headers of a name", "GET /function/a HTTP/1.1\r\nHost: g\r\nX-A: 1\r\nx-a: 2\r\n\r\n"],
    ["a connection that is kept", "GET /function/a HTTP/1.1\r\nHost: g\r\nConnection: keep-alive\r\n\r\n"],
  ];

  test.each(plain)("takes %s, as node does", async (_name, text) => {
    const parts = read(text);
    const { body, ...node } = (await readRequestAsNode(bytes(text))) ?? { body: "" };
    expect(parts).toEqual({
      head: {
        text: text.slice(0, text.indexOf("\r\n\r\n") + 4),
        method: "method" in node ? node.method : undefined,
        target: "target" in node ? node.target : undefined,
        rawHeaders: "rawHeaders" in node ? node.rawHeaders : undefined,
        length: body.length,
        understood: undefined,
      },
      body: body === "" ? undefined : bytes(body),
    });
    expect(node).toMatchObject({ goesOn: true });
  });

  const host = "Host: g\r\n";
  test.each(["", "ab"])("takes a head with a part of its body: %j", (part) => {
    const parts = read(`POST /function/a HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\n${part}`);
    expect(parts).toMatchObject({ head: { target: "/function/a", length: 3 } });
    expect(parts?.body?.toString()).toBe(part === "" ? undefined : part);
  });

  test("a head that came before is the very same one, with whatever body", () => {
    const text = `POST /function/a HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\n`;
    const first = read(`${text}abc`);
    const again = readPlainRequest(bytes(`${text}de`), first?.head);
    expect(again?.head).toBe(first?.head);
    expect(again?.body?.toString()).toBe("de");
    expect(readPlainRequest(bytes(`${text}abcd`), first?.head)).toBeUndefined();
    const other = readPlainRequest(bytes(`${text.replace("3", "4")}abcd`), first?.head);
    expect(other?.head).toMatchObject({ length: 4 });
  });

  test.each([
    ["part of a head", `GET /function/a HTTP/1.1\r\n${host}`],
    ["bytes behind", `POST /function/a HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabcd`],
    ["a body without a length", `POST /function/a HTTP/1.1\r\n${host}\r\nabc`],
    ["two requests", `GET /function/a HTTP/1.1\r\n${host}\r\n`.repeat(2)],
    ["an empty line before", `\r\nGET /function/a HTTP/1.1\r\n${host}\r\n`],
    ["no headers", "GET /function/a HTTP/1.1\r\n\r\n"],
    ["another route", `GET /system/info HTTP/1.1\r\n${host}\r\n`],
    ["the status of a call", `GET /async-function/a HTTP/1.1\r\n${host}\r\n`],
    ["HEAD", `HEAD /function/a HTTP/1.1\r\n${host}\r\n`],
    ["HTTP/1.0", `GET /function/a HTTP/1.0\r\n${host}\r\n`],
    ["two blanks", `GET  /function/a HTTP/1.1\r\n${host}\r\n`],
    ["blanks round a value", `GET /function/a HTTP/1.1\r\n${host}X-A:  1\r\n\r\n`],
    ["a blank after a value", `GET /function/a HTTP/1.1\r\n${host}X-A: 1 \r\n\r\n`],
    ["a value of blanks", `GET /function/a HTTP/1.1\r\n${host}X-A:  \r\n\r\n`],
    ["chunks", `POST /function/a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["a length that is none", `POST /function/a HTTP/1.1\r\n${host}Content-Length: 1a\r\n\r\na`],
    ["two lengths", `POST /function/a HTTP/1.1\r\n${host}Content-Length: 1\r\ncontent-length: 1\r\n\r\na`],
    ["a connection that ends", `GET /function/a HTTP/1.1\r\n${host}connection: close\r\n\r\n`],
    ["a connection with options", `GET /function/a HTTP/1.1\r\n${host}Connection: keep-alive, X-A\r\n\r\n`],
    ["a proxy's connection", `GET /function/a HTTP/1.1\r\n${host}Proxy-Connection: close\r\n\r\n`],
    ["an upgrade", `GET /function/a HTTP/1.1\r\n${host}Upgrade: websocket\r\n\r\n`],
    ["an expectation", `POST /function/a HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 1\r\n\r\na`],
    ["trailers that are announced", `GET /function/a HTTP/1.1\r\n${host}TE: trailers\r\n\r\n`],
    ["a head over 8 KiB", `GET /function/a HTTP/1.1\r\n${host}X-A: ${"a".repeat(8_192)}\r\n\r\n`],
  ])("leaves %s to node:http", (_name, text) => {
    expect(read(text)).toBeUndefined();
  });

  /** Well-formed to both; what is wrong with it is found when the head is read, and told by the long way. */
  const judgedLater: ReadonlySet<string> = new Set([
    "no Host",
    "two Host",
    "two Authorization",
    "two X-Call-Id",
    "two X-Callback-Url",
  ]);
  test.each(malformedRequests.filter(([name]) => !judgedLater.has(name)))("leaves to node:http: %s", (_name, text) => {
    expect(read(withTarget(text, "/function/echo"))).toBeUndefined();
  });
});
