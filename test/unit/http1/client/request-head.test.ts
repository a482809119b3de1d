import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";

import { rawRequest } from "../../../../runtime/http1/client/request-head.ts";
import type { UpstreamRequest } from "../../../../runtime/core/ports/upstream.ts";
import { CachedHeaders } from "../../../../runtime/core/headers/cached-headers.ts";

const prepared = (over: Partial<UpstreamRequest> = {}) =>
  rawRequest("10.0.0.1:8080", { method: "GET", target: "/a?b", headers: [], body: null, ...over });
const bytes = Buffer.from("ok");

describe("a request's head", () => {
  test("names target and replica, then the headers as they are, then the length", () => {
    const headers = ["X-B", "1", "content-length", "02", "x-a", "na\xefve"];
    expect(prepared({ method: "POST", headers, body: bytes }).head).toBe(
      "POST /a?b HTTP/1.1\r\nhost: 10.0.0.1:8080\r\nconnection: keep-alive\r\nX-B: 1\r\nx-a: na\xefve\r\ncontent-length: 2\r\n\r\n",
    );
  });

  test("begins with cached headers, which are written once", () => {
    const forward = new CachedHeaders(["X-A", "1"]);
    const heads = ["2", "3"].map((value) => prepared({ forward, headers: ["X-B", value] }).head);
    expect(heads.map((head) => head.split("\r\n").slice(3, 5))).toEqual([
      ["X-A: 1", "X-B: 2"],
      ["X-A: 1", "X-B: 3"],
    ]);
  });

  test.each([
    ["CRLF in a value", ["X", "a\r\nY: b"]],
    ["a length", ["Content-Length", "1"]],
    ["a header of the connection", ["Connection", "close"]],
    ["an invalid name", ["X:", "1"]],
  ])("refuses cached headers with %s, each time", (_name, list) => {
    const forward = new CachedHeaders(list);
    for (let count = 0; count < 2; count += 1) expect(() => prepared({ forward })).toThrow("Cannot send");
  });

  test.each<[string, Partial<UpstreamRequest>, string | undefined]>([
    ["nothing for GET", {}, undefined],
    ["nothing for GET with an empty body", { body: Buffer.alloc(0), headers: ["Content-Length", "0"] }, undefined],
    ["0 for POST", { method: "POST" }, "content-length: 0"],
    ["the size of the body", { method: "DELETE", body: bytes }, "content-length: 2"],
    [
      "the given length of a stream",
      { body: Readable.from([]), headers: ["Content-Length", "7"] },
      "content-length: 7",
    ],
    ["chunked for a stream", { body: Readable.from([]) }, "transfer-encoding: chunked"],
  ])("states as the length of the body: %s", (_name, over, expected) => {
    const line = /^(?:content-length|transfer-encoding): .*$/m.exec(prepared(over).head.replaceAll("\r", ""));
    expect(line?.[0]).toBe(expected);
  });

  test.each<[string, Partial<UpstreamRequest>, boolean]>([
    ["GET", {}, true],
    ["POST with a body", { method: "POST", body: bytes }, true],
    ["GET with a body, which a replica may not read", { body: bytes }, false],
    ["HEAD, to which a replica may reply with a body", { method: "HEAD" }, false],
    ["an upgrade", { upgrade: "websocket" }, false],
  ])("whether the connection may be reused after %s: %#", (_name, over, persistent) => {
    expect(prepared(over).persistent).toBe(persistent);
  });

  test.each<[string, Partial<UpstreamRequest>]>([
    ["CRLF in a value", { headers: ["X", "a\r\nY: b"] }],
    ["a character above one byte, which would become LF", { headers: ["X", "a\u010ab"] }],
    ["NUL in a value", { headers: ["X", "a\0"] }],
    ["CRLF in a name", { headers: ["X\r\nY", "b"] }],
    ["a colon in a name", { headers: ["X:", "b"] }],
    ["no name", { headers: ["", "b"] }],
    ["a space in the target", { target: "/a b" }],
    ["CRLF in the target", { target: "/ HTTP/1.1\r\nX: " }],
    ["a character above one byte in the target", { target: "/\u010d\u010a" }],
    ["an absolute target", { target: "http://elsewhere/" }],
    ["a space in the method", { method: "GET /" }],
    ["its own Transfer-Encoding", { headers: ["Transfer-Encoding", "chunked"] }],
    ["its own Host", { headers: ["HOST", "elsewhere"] }],
    ["its own Connection", { headers: ["Connection", "close"] }],
    ["two lengths", { headers: ["Content-Length", "2", "Content-Length", "2"], body: bytes }],
    ["an invalid length", { headers: ["Content-Length", "2, 2"], body: bytes }],
    ["a length other than the body's", { headers: ["Content-Length", "3"], body: bytes }],
    ["a length without a body", { headers: ["Content-Length", "3"] }],
  ])("is refused with %s", (_name, over) => {
    expect(() => prepared(over)).toThrow("Cannot send");
  });

  test.each<[string, Partial<UpstreamRequest>, boolean]>([
    ["GET", {}, true],
    ["PUT with bytes", { method: "PUT", body: bytes }, true],
    ["PUT with a stream", { method: "PUT", body: Readable.from([bytes]) }, false],
    ["POST", { method: "POST", body: bytes }, false],
    ["a method that differs by case", { method: "get" }, false],
    ["GET that changes the protocol", { upgrade: "websocket" }, false],
  ])("says whether %s may be repeated", (_name, over, repeatable) => {
    expect(prepared(over).repeatable).toBe(repeatable);
  });
});
