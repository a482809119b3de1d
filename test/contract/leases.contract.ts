import { expect, test } from "vitest";

import type { Leases } from "../../runtime/core/ports/leases.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenLeases {
  /** The ends of two processes for the same leases. */
  readonly here: Leases;
  readonly there: Leases;
  close(): Promise<void>;
}

const minute = 60_000;

/** What every `Leases` must do. */
export function leasesContract(open: () => Promise<OpenLeases>): void {
  test("a holder keeps a lease until it releases it, and may acquire it again", async () => {
    const { here, there, close } = await open();
    expect(await here.acquire("process.doctor", "a", minute)).toBe(true);
    expect(await there.acquire("process.doctor", "b", minute)).toBe(false);
    expect(await here.acquire("process.doctor", "a", minute)).toBe(true);
    expect(await there.acquire("process.autoscaler", "b", minute)).toBe(true);
    await there.release("process.doctor", "b");
    expect(await there.acquire("process.doctor", "b", minute)).toBe(false);
    await here.release("process.doctor", "a");
    await here.release("process.doctor", "a");
    expect(await there.acquire("process.doctor", "b", minute)).toBe(true);
    await close();
  });

  test("a lease is free when its time has passed, and not before", async () => {
    const { here, there, close } = await open();
    const at = performance.now();
    expect(await here.acquire("queue.default", "a", 1_000)).toBe(true);
    await eventually(() => there.acquire("queue.default", "b", minute), {
      what: "the lease to be over",
    });
    expect(performance.now() - at).toBeGreaterThan(950);
    expect(await here.acquire("queue.default", "a", 1_000)).toBe(false);
    await close();
  });

  test("renewing a lease keeps it", async () => {
    const { here, there, close } = await open();
    const end = performance.now() + 2_500;
    // A lease that was lost for a moment must fail the test, so nothing is asserted where a failure means "not yet".
    const outcomes = new Set<string>();
    await eventually(
      async () => {
        outcomes.add(`a ${await here.acquire("queue.default", "a", 1_000)}`);
        outcomes.add(`b ${await there.acquire("queue.default", "b", 1_000)}`);
        return performance.now() > end;
      },
      { every: 200, what: "several leases" },
    );
    expect([...outcomes]).toEqual(["a true", "b false"]);
    await close();
  });

  test("of many who acquire a lease at once one gets it", async () => {
    const { here, there, close } = await open();
    const got = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        (n % 2 === 0 ? here : there).acquire("process.doctor", `holder-${n}`, minute),
      ),
    );
    expect(got.filter(Boolean).length).toBe(1);
    await close();
  });
}
