import { expect, test } from "vitest";

import type { ReadyReplica } from "../../../runtime/core/function-table.ts";
import { ReplyMemory } from "../../../runtime/gateway/invocation/reply-memory.ts";

const replica = (address: string): ReadyReplica => ({ address, inFlight: 0 });

test("the very same list of a replica is read once, any other each time", () => {
  const memory = new ReplyMemory();
  const one = replica("a:1");
  const headers = ["X-A", "1", "Connection", "close"];
  const first = memory.passedOn(one, 200, headers);
  expect(first.list).toEqual(["X-A", "1"]);
  expect(memory.passedOn(one, 200, headers)).toBe(first);
  expect(memory.passedOn(one, 200, ["X-A", "2"]).list).toEqual(["X-A", "2"]);
  expect(memory.passedOn(replica("b:1"), 200, ["X-A", "3"]).list).toEqual(["X-A", "3"]);
  expect(memory.passedOn(one, 200, headers)).not.toBe(first);
});

test("with another status the same list is read again", () => {
  const memory = new ReplyMemory();
  const one = replica("a:1");
  const headers = ["Content-Length", "2"];
  expect(memory.passedOn(one, 200, headers).list).toEqual(headers);
  expect(memory.passedOn(one, 204, headers).list).toEqual([]);
});
