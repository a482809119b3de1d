import { expect, test } from "vitest";

import { endRunStatus, endStatus } from "../../../../runtime/gateway/calls/call-observer.ts";

const begun = { headersSent: true, statusCode: 200, writableEnded: false };
const whole = { ...begun, writableEnded: true };
const none = { headersSent: false, statusCode: 200, writableEnded: false };

test.each([
  ["replica", 502],
  ["idle", 504],
  ["timeout", 504],
  ["draining", 503],
  ["unread", 499],
  ["expired", 401],
] as const)("a call that is cut for %s counts as %d, before the head of its reply and after it", (reason, status) => {
  for (const response of [none, begun, whole]) {
    expect(endStatus(response, reason)).toBe(status);
    expect(endRunStatus(response, reason)).toBe(status);
  }
});

test("a client that leaves does not change a sent status; a queue-worker that leaves gets no response", () => {
  expect([none, begun, whole].map((response) => endStatus(response))).toEqual([499, 200, 200]);
  expect([none, begun, whole].map((response) => endRunStatus(response))).toEqual([499, 499, 200]);
});

test("a WebSocket counts as 101, however it ended", () => {
  const webSocket = { ...begun, statusCode: 101 };
  expect([endStatus(webSocket), endStatus(webSocket, "idle"), endStatus(webSocket, "draining")]).toEqual([
    101, 101, 101,
  ]);
});
