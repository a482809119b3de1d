import { describe, expect, test } from "vitest";

import { chooseSyncCall } from "../../../../../runtime/core/history/reports/choose-sync-call.ts";

const fine = { status: 200 };
const never = () => 1;
const always = () => 0;

describe("chooseSyncCall()", () => {
  test.each([
    ["a call that ended well", fine, undefined],
    ["the function's own 404", { status: 404 }, undefined],
    ["a client that left", { status: 499 }, undefined],
    ["the function's 500", { status: 500 }, "noted"],
    ["a 504", { status: 504 }, "noted"],
    ["the gateway's own 429", { status: 429, isOwnError: true }, "noted"],
    ["a cold start", { status: 200, coldStart: 0 }, "noted"],
  ] as const)("%s", (_what, fate, expected) => {
    expect(chooseSyncCall(undefined, fate, 0.001, never)).toBe(expected);
    expect(chooseSyncCall("none", fate, 1, always)).toBeUndefined();
    expect(chooseSyncCall("all", fate, 0, never)).toBe("each");
  });

  test("keeps a share of all others", () => {
    let at = 0;
    const chance = () => (at++ % 1_000) / 1_000;
    const kept = Array.from({ length: 2_000 }, () => chooseSyncCall(undefined, fine, 0.01, chance));
    expect(kept.filter((kind) => kind === "sampled")).toHaveLength(20);
    expect(chooseSyncCall(undefined, fine, 0, always)).toBeUndefined();
    expect(chooseSyncCall(undefined, fine, 1)).toBe("sampled");
  });
});
