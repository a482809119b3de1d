import { expect, test } from "vitest";

import { ReplyHeadCache } from "../../../../../runtime/gateway/calls/sync/reply-head-cache.ts";

test("the very same list is read once, any other each time", () => {
  const memory = new ReplyHeadCache();
  const headers = ["X-A", "1", "Connection", "close"];
  const first = memory.passedOn(200, headers);
  expect(first.list).toEqual(["X-A", "1"]);
  expect(memory.passedOn(200, headers)).toBe(first);
  expect(memory.passedOn(200, ["X-A", "2"]).list).toEqual(["X-A", "2"]);
  expect(memory.passedOn(200, [...headers])).not.toBe(first);
  expect(memory.passedOn(200, headers)).toBe(first);
});

test("with another status the same list is read again", () => {
  const memory = new ReplyHeadCache();
  const headers = ["Content-Length", "2"];
  for (let count = 0; count < 2; count += 1) {
    expect(memory.passedOn(200, headers).list).toEqual(headers);
    expect(memory.passedOn(204, headers).list).toEqual([]);
  }
});

test("old lists make room", () => {
  const memory = new ReplyHeadCache();
  const headers = ["X-A", "1"];
  const first = memory.passedOn(200, headers);
  for (let count = 0; count < 100; count += 1) memory.passedOn(200, ["X-B", String(count)]);
  expect(memory.passedOn(200, headers)).not.toBe(first);
  expect(memory.passedOn(200, headers).list).toEqual(headers);
});
