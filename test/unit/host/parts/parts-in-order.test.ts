import { describe, expect, test } from "vitest";

import { PartsInOrder } from "../../../../runtime/host/parts/parts-in-order.ts";

describe("PartsInOrder", () => {
  test("opens one part after another, each with the results of the previous ones", async () => {
    const seen: string[] = [];
    const first = async ({ start }: { readonly start: string }) => {
      seen.push(`first begins with ${start}`);
      await Promise.resolve();
      seen.push("first is open");
      return { first: 1 };
    };
    const second = async (given: { readonly start: string; readonly first: number }) => {
      seen.push(`second begins with ${given.start} and ${given.first}`);
      return { second: 2 };
    };
    const opened = await new PartsInOrder({ start: "a" }).with(first).with(second).opened;
    expect(opened).toEqual({ start: "a", first: 1, second: 2 });
    expect(seen).toEqual(["first begins with a", "first is open", "second begins with a and 1"]);
  });

  test("opens nothing after a part that cannot be opened, and rejects as that one does", async () => {
    const opened: string[] = [];
    const bad = (): Promise<{ readonly bad: true }> => Promise.reject(new Error("no room"));
    const next = async () => ({ next: opened.push("next") });
    await expect(new PartsInOrder({}).with(bad).with(next).opened).rejects.toThrow("no room");
    expect(opened).toEqual([]);
  });
});
