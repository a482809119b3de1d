import { expect, test } from "vitest";

import { upgradeHeaders } from "../../../../../runtime/gateway/calls/sync/reply-headers.ts";
import { replyHeaders } from "../../../../support/reply-headers.ts";

const facts = { callId: "id", startTime: "17", duration: 1.5 };
const added = ["X-Call-Id", "id", "X-Start-Time", "17"];

test("a reply passes the function's headers on, and adds those of the gateway", () => {
  expect(
    replyHeaders(
      200,
      ["Set-Cookie", "a", "set-cookie", "b", "Connection", "keep-alive", "Keep-Alive", "timeout=5"],
      facts,
    ),
  ).toEqual(["Set-Cookie", "a", "set-cookie", "b", ...added, "X-Duration-Seconds", "0.001500"]);
});

test("a reply keeps the function's own duration, and replaces its call id and start time", () => {
  expect(replyHeaders(200, ["x-call-id", "forged", "X-START-TIME", "1", "X-Duration-Seconds", "9"], facts)).toEqual([
    "X-Duration-Seconds",
    "9",
    ...added,
  ]);
});

test("a reply drops what Connection names, but the length", () => {
  expect(
    replyHeaders(
      200,
      ["X-Gone", "1", "Content-Length", "2", "Connection", "close, x-gone, content-length"],
      facts,
    ).slice(0, 2),
  ).toEqual(["Content-Length", "2"]);
});

test("a reply with 204 has no length", () => {
  const headers = ["X-Own", "1", "Content-Length", "2"];
  expect(replyHeaders(204, headers, facts).slice(0, 3)).toEqual(["X-Own", "1", "X-Call-Id"]);
  expect(replyHeaders(304, headers, facts).slice(0, 4)).toEqual(headers);
});

test("upgradeHeaders() writes its own headers for the upgrade", () => {
  const sent = ["Upgrade", "WebSocket", "Connection", "upgrade, x-gone", "X-Gone", "1", "Sec-WebSocket-Accept", "abc"];
  expect(upgradeHeaders([...sent, "Content-Length", "5"], facts)).toEqual([
    "Sec-WebSocket-Accept",
    "abc",
    ...added,
    "X-Duration-Seconds",
    "0.001500",
    "Connection",
    "Upgrade",
    "Upgrade",
    "websocket",
  ]);
});
