import { expect, test } from "vitest";

import { replyHeaders } from "../../../runtime/gateway/invocation/reply-headers.ts";

const facts = { callId: "id", startTime: "17", duration: 1.5 };
const added = ["X-Call-Id", "id", "X-Start-Time", "17"];

test("replyHeaders() passes the function's headers on and says what the gateway knows", () => {
  expect(
    replyHeaders(["Set-Cookie", "a", "set-cookie", "b", "Connection", "keep-alive", "Keep-Alive", "timeout=5"], facts),
  ).toEqual(["Set-Cookie", "a", "set-cookie", "b", ...added, "X-Duration-Seconds", "0.001500"]);
});

test("replyHeaders() keeps the function's own duration, and replaces its call id and start time", () => {
  expect(replyHeaders(["x-call-id", "forged", "X-START-TIME", "1", "X-Duration-Seconds", "9"], facts)).toEqual([
    "X-Duration-Seconds",
    "9",
    ...added,
  ]);
});

test("replyHeaders() drops what Connection names, but the length", () => {
  expect(
    replyHeaders(["X-Gone", "1", "Content-Length", "2", "Connection", "close, x-gone, content-length"], facts).slice(
      0,
      2,
    ),
  ).toEqual(["Content-Length", "2"]);
});
