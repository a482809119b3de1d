import { describe, expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { readRequestHead } from "../../../../runtime/gateway/edge/read-request-head.ts";

const id = "7F3A0B1C-0000-4000-8000-00000000000A";
const read = (...headers: string[]) => readRequestHead(["Host", "gw", ...headers], "10.0.0.9");
const codeOf = (...headers: string[]): string => {
  try {
    readRequestHead(headers, "10.0.0.9");
    return "accepted";
  } catch (err) {
    return err instanceof PlatformError ? err.code : String(err);
  }
};
const added = ["X-Forwarded-For", "10.0.0.9", "X-Forwarded-Host", "gw", "X-Forwarded-Proto", "http"];

describe("readRequestHead()", () => {
  test("passes headers on in order and spelling, also repeated ones", () => {
    expect(read("Accept", "a", "x-Foo", "1", "X-FOO", "2", "Cookie", "c=1").forward.list).toEqual([
      "Accept",
      "a",
      "x-Foo",
      "1",
      "X-FOO",
      "2",
      "Cookie",
      "c=1",
      ...added,
    ]);
  });

  test("an empty Authorization or X-Callback-Url is absent", () => {
    const head = read("Authorization", "", "X-Callback-Url", "");
    expect([head.authorization, head.callbackUrl, head.forward.list]).toEqual([undefined, undefined, added]);
  });

  test("removes hop-by-hop headers, what Connection names, and what only the platform sends", () => {
    const head = read(
      "Connection",
      "keep-alive, X-Gone",
      "X-Gone",
      "1",
      "Keep-Alive",
      "5",
      "Proxy-Connection",
      "x",
      "TE",
      "trailers",
      "Trailer",
      "x",
      "Upgrade",
      "h2c",
      "X-Call-Attempt",
      "2",
      "X-Parent-Call-Id",
      id,
      "Weir-Invoke",
      "k",
      "Weir-Other",
      "k",
      "X_Call_Id",
      id,
      "x_forwarded_for",
      "6.6.6.6",
      "transfer_encoding",
      "chunked",
      "X-Forwarded-For",
      "6.6.6.6",
      "X-Forwarded-Port",
      "1",
      "Expect",
      "100-continue",
      "Authorization",
      "Bearer t",
      "X_Other",
      "stays",
    );
    expect(head.forward.list).toEqual(["X_Other", "stays", ...added]);
    expect(head).toMatchObject({
      expect: true,
      authorization: "Bearer t",
      upgrade: "h2c",
      chunked: false,
      callId: undefined,
    });
  });

  test("reads ids, depth, callback and times; an invalid id or number counts as absent", () => {
    const good = read(
      "X-Call-Id",
      id,
      "X-Call-Depth",
      "3",
      "X-Callback-Url",
      "http://x/",
      "X-Start-Time",
      "12",
      "X-Function-Status",
      "200",
    );
    expect(good).toMatchObject({
      callId: id.toLowerCase(),
      callDepth: 3,
      callbackUrl: "http://x/",
      startTime: "12",
      functionStatus: true,
    });
    expect(good.forward.list).toEqual([
      "X-Call-Depth",
      "3",
      "X-Callback-Url",
      "http://x/",
      "X-Function-Status",
      "200",
      ...added,
    ]);

    const bad = read("X-Call-Id", "42", "X-Call-Depth", "many", "X-Start-Time", "now");
    expect(bad).toMatchObject({ callId: undefined, callDepth: undefined, startTime: undefined, functionStatus: false });
    expect(bad.forward.list).toEqual(added);
  });

  test("trusts X-Forwarded-* of a trusted proxy, and adds the peer", () => {
    const headers = [
      "Host",
      "gw",
      "X-Forwarded-For",
      "1.1.1.1",
      "X-Forwarded-Host",
      "public",
      "X-Forwarded-Proto",
      "https",
    ];
    const head = readRequestHead(headers, "::ffff:10.0.0.9", { trusted: true, secure: false });
    expect(head.forward.list).toEqual([
      "X-Forwarded-For",
      "1.1.1.1, 10.0.0.9",
      "X-Forwarded-Host",
      "public",
      "X-Forwarded-Proto",
      "https",
    ]);
  });

  test.each([
    "Forwarded",
    "X-Forwarded",
    "X-Forwarded-Prefix",
    "X-Real-IP",
    "True-Client-IP",
    "CF-Connecting-IP",
    "X-Client-IP",
    "X-Cluster-Client-IP",
    "Fastly-Client-IP",
    "Fly-Client-IP",
    "X-Envoy-External-Address",
    "X-ProxyUser-Ip",
    "X-Original-Forwarded-For",
    "X-Original-URL",
    "X-Rewrite-URL",
    "Client-Cert",
    "Script-Name",
  ])("%s comes from trusted proxies only, and is never spelt with _", (name) => {
    const headers = ["Host", "gw", name, "192.0.2.66", name.toUpperCase(), "b", name.replaceAll("-", "_"), "c"];
    const pairs = name.includes("-") ? headers : headers.slice(0, 6);
    const sent = (trusted: boolean) => readRequestHead(pairs, "10.0.0.9", { trusted, secure: false }).forward.list;
    expect(sent(false)).toEqual(added);
    expect(sent(true)).toEqual([name, "192.0.2.66", name.toUpperCase(), "b", ...added]);
    expect(codeOf("Host", "gw", "Connection", name)).toBe("malformed_request");
  });

  test("a wish for another method is the client's own", () => {
    expect(read("X-HTTP-Method-Override", "PATCH").forward.list).toEqual(["X-HTTP-Method-Override", "PATCH", ...added]);
  });

  test.each([
    "Host",
    "Authorization",
    "Content-Type",
    "Content-Length",
    "Transfer-Encoding",
    "X-Call-Id",
    "X-Callback-Url",
    "X-Call-Depth",
  ])("%s twice, in any spelling, is malformed", (name) => {
    const value = name === "Content-Length" ? "1" : name === "Transfer-Encoding" ? "chunked" : "x";
    const host = name === "Host" ? [] : ["Host", "gw"];
    expect(codeOf(...host, name, value, name.toUpperCase(), value)).toBe("malformed_request");
  });

  test.each([
    [["Accept", "x"]],
    [["Host", "g", "Transfer-Encoding", "identity, chunked"]],
    [["Host", "g", "Transfer-Encoding", "gzip"]],
    [["Host", "g", "Content-Length", "-1"]],
    [["Host", "g", "Content-Length", "0x1"]],
    [["Host", "g", "Content-Length", "9007199254740993"]],
    [["Host", "g", "Content-Length", "1", "Transfer-Encoding", "chunked"]],
    [["Host", "g", "Connection", "host"]],
    [["Host", "g", "Connection", "close, Content-Length"]],
    [["Host", "g", "Connection", "transfer-encoding"]],
    [["Host", "g", "Connection", "X-Forwarded-For"]],
    [["Host", "g", "Connection", "weir-invoke"]],
    [["Host", "g", "Connection", "x-call-id"]],
    [["Host", "g", "Connection", "X-Retry-Max"]],
    [["Host", "g", "Connection", "close, X-Function-Name"]],
    [["Host", "g", "Connection", "x-duration-seconds"]],
  ])("%j is malformed", (headers) => {
    expect(codeOf(...headers)).toBe("malformed_request");
  });

  test("other faults have their own codes", () => {
    expect(codeOf("Host", "g", "Expect", "200-ok")).toBe("expectation_failed");
    expect(codeOf("Host", "g", ...Array.from({ length: 100 }, () => ["a", "b"]).flat())).toBe("headers_too_large");
    expect(codeOf("Host", "g", ...Array.from({ length: 99 }, () => ["a", "b"]).flat())).toBe("accepted");
  });
});
