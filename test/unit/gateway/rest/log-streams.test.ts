import { expect, test } from "vitest";

import { LogStreams } from "../../../../runtime/gateway/rest/log-streams.ts";

const refusal = expect.objectContaining({ code: "too_many_streams" });

test("the 201st stream is refused before anything is read, and one that is over makes room, once", () => {
  const streams = new LogStreams({ heartbeat: 1_000 });
  const begun = Array.from({ length: 200 }, () => streams.begin());
  expect(() => streams.begin()).toThrow(refusal);
  const [first] = begun;
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose]();
  expect(first?.signal.aborted).toBe(true);
  streams.begin();
  expect(() => streams.begin()).toThrow(refusal);
});

test("closing ends all streams, also those that have not begun to send", () => {
  const streams = new LogStreams({ heartbeat: 1_000 });
  const begun = [streams.begin(), streams.begin()];
  streams.close();
  expect(begun.map(({ signal }) => signal.aborted)).toEqual([true, true]);
});
