import { expect, test } from "vitest";

import { connectionOptions } from "../../../../runtime/api/http-grammar.ts";
import { withoutHeaders } from "../../../../runtime/core/headers/header-list.ts";
import { endToEndHeaders, isHopByHop, isSimpleConnection } from "../../../../runtime/core/headers/hop-by-hop.ts";

test("isHopByHop() knows the hop-by-hop headers", () => {
  for (const name of [
    "connection",
    "http2-settings",
    "keep-alive",
    "proxy-authorization",
    "proxy-x",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
  ]) {
    expect(isHopByHop(name)).toBe(true);
  }
  for (const name of ["host", "content-length", "date", "x-proxy"]) expect(isHopByHop(name)).toBe(false);
});

test("connectionOptions() and isPlainConnection() read lists", () => {
  expect(connectionOptions(" Close, X-One ,,x-two")).toEqual(["close", "x-one", "x-two"]);
  expect(isSimpleConnection("Keep-Alive")).toBe(true);
  expect(isSimpleConnection("close, te")).toBe(true);
  expect(isSimpleConnection("close, x-one")).toBe(false);
});

test("endToEndHeaders() keeps order and spelling of end-to-end headers", () => {
  const headers = [
    "X-One",
    "1",
    "Connection",
    "x-two, close",
    "X-Two",
    "2",
    "TE",
    "trailers",
    "x-one",
    "3",
    "Proxy-Foo",
    "4",
  ];
  expect(endToEndHeaders(headers)).toEqual(["X-One", "1", "x-one", "3"]);
});

test("only Connection names further hop-by-hop headers, and a name without a value is dropped", () => {
  expect(endToEndHeaders(["X-Names", "x-two", "X-Two", "2"])).toEqual(["X-Names", "x-two", "X-Two", "2"]);
  expect(endToEndHeaders(["X-One", "1", "X-Two"])).toEqual(["X-One", "1"]);
  expect(withoutHeaders(["X-One", "1", "Host", "h", "X-Two"], new Set(["host"]))).toEqual(["X-One", "1"]);
});
