import { expect, test } from "vitest";

import { EarlyBytes } from "../../../../../runtime/gateway/edge/http1/early-bytes.ts";

test("bytes that come before their turn are kept in order, and the client is paused from 64 KiB on", () => {
  const early = new EarlyBytes();
  expect(early.empty).toBe(true);
  expect(early.hold(Buffer.alloc(65_535, "a"))).toBe(false);
  expect(early.hold(Buffer.from("b"))).toBe(false);
  expect(early.hold(Buffer.from("c"))).toBe(true);
  expect(early.empty).toBe(false);
  expect(Buffer.concat(early.take()).toString("latin1", 65_534)).toBe("abc");
  expect(early.empty).toBe(true);
  expect(early.hold(Buffer.from("d"))).toBe(false);
});
