import { describe, expect, test } from "vitest";

import { eventually } from "../../support/eventually.ts";

describe("eventually", () => {
  test("resolves with the first defined value, also 0 and the empty text", async () => {
    let looks = 0;
    const looked = await eventually(() => (++looks < 4 ? undefined : looks), {
      within: 2_000,
      what: "four looks",
      every: 1,
    });

    expect(looked).toBe(4);
    expect(await eventually(() => 0, { within: 1, what: "zero" })).toBe(0);
    expect(await eventually(async () => "", { within: 1, what: "nothing written" })).toBe("");
  });

  test("treats an error of the condition as not yet", async () => {
    let looks = 0;
    const condition = () => {
      looks += 1;
      if (looks < 3) throw new Error("too early");
      return true;
    };

    expect(await eventually(condition, { within: 2_000, what: "the third look", every: 1 })).toBe(true);
  });

  test("reports what it waited for and what it saw last", async () => {
    const waiting = eventually(() => false, { within: 5, what: "the moon", every: 1 });
    await expect(waiting).rejects.toThrow("Waited 5 ms in vain for the moon; last value: false");

    const failing = eventually(() => Promise.reject(new Error("cloudy")), { within: 5, what: "the moon", every: 1 });
    await expect(failing).rejects.toThrow("in vain for the moon; last error: cloudy");
  });

  test("does not wait for a condition that hangs", async () => {
    const hanging = eventually(() => new Promise<never>(() => undefined), { within: 20, what: "a response" });

    await expect(hanging).rejects.toThrow("last value: undefined; the last look did not come back");

    let looks = 0;
    const once = () => (++looks === 1 ? Promise.reject(new Error("cloudy")) : new Promise<never>(() => undefined));
    const late = eventually(once, { within: 20, what: "a response", every: 1 });
    await expect(late).rejects.toThrow("last error: cloudy; the last look did not come back");
  });
});
