import { expect, test } from "vitest";

import { ReplyHeadCache } from "../../../../../runtime/gateway/calls/sync/reply-head-cache.ts";

test("the identical list is read once, any other list each time", () => {
  const cache = new ReplyHeadCache();
  const headers = ["X-A", "1", "Connection", "close"];
  const first = cache.passedOn(200, headers);
  expect(first.list).toEqual(["X-A", "1"]);
  expect(cache.passedOn(200, headers)).toBe(first);
  expect(cache.passedOn(200, ["X-A", "2"]).list).toEqual(["X-A", "2"]);
  expect(cache.passedOn(200, [...headers])).not.toBe(first);
  expect(cache.passedOn(200, headers)).toBe(first);
});

test("with another status the same list is read again", () => {
  const cache = new ReplyHeadCache();
  const headers = ["Content-Length", "2"];
  for (let count = 0; count < 2; count += 1) {
    expect(cache.passedOn(200, headers).list).toEqual(headers);
    expect(cache.passedOn(204, headers).list).toEqual([]);
  }
});

test("old lists are evicted", () => {
  const cache = new ReplyHeadCache();
  const headers = ["X-A", "1"];
  const first = cache.passedOn(200, headers);
  for (let count = 0; count < 100; count += 1) cache.passedOn(200, ["X-B", String(count)]);
  expect(cache.passedOn(200, headers)).not.toBe(first);
  expect(cache.passedOn(200, headers).list).toEqual(headers);
});
