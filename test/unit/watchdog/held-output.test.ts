import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { HeldOutput } from "../../../runtime/watchdog/held-output.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function opened(isServer: boolean) {
  const sent: string[] = [];
  const held = new HeldOutput({
    send: (chunk) => void sent.push(chunk.toString()),
    seemsServer: async () => isServer,
  });
  return { held, sent, add: (text: string) => held.add(Buffer.from(text)) };
}

test("what a process writes first is held for 10 ms, then sent in its order, and later output as it comes", async () => {
  const { sent, add } = opened(false);
  add("one");
  await vi.advanceTimersByTimeAsync(9);
  add("two");
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toEqual(["one", "two"]);
  add("three");
  expect(sent).toEqual(["one", "two", "three"]);
});

test("that of a server is held until it is released", async () => {
  const { held, sent, add } = opened(true);
  add("listening on 3000");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toEqual([]);
  held.release();
  expect(sent).toEqual(["listening on 3000"]);
});

test("more than a greeting is sent at once", () => {
  const { sent, add } = opened(true);
  add("x".repeat(4_096));
  expect(sent).toEqual([]);
  add("y");
  expect(sent.join("")).toHaveLength(4_097);
});
