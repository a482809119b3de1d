import { expect, test } from "vitest";

import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { Usage } from "../../runtime/core/ports/usage.ts";
import { eventually } from "../support/eventually.ts";
import { namespacesOf, type TestNamespaces } from "./namespaces.ts";

/** Open usage, and how functions start and end. */
export interface OpenUsage extends Pick<TestNamespaces, "namespaces"> {
  readonly usage: Usage;
  /** Milliseconds within which a change is measured; absent: 15 s, and the end of a function at once. */
  readonly within?: number;
  /** Starts a replica, which keeps a processor busy or does nothing; resolves when it runs. */
  start(ref: FunctionRef, busy: boolean): Promise<void>;
  /** Ends all replicas of a function. */
  end(ref: FunctionRef): Promise<void>;
  close(): Promise<void>;
}

/** What every `Usage` promises. */
export function usageContract(open: () => Promise<OpenUsage>): void {
  test("of() returns what running replicas use, and undefined for a function without any", async () => {
    const { usage, start, end, close, within, ...places } = await open();
    const [namespace] = namespacesOf(places);
    const [busy, idle] = [
      { namespace, name: "busy" },
      { namespace, name: "idle" },
    ];
    try {
      expect(await usage.of(busy)).toBeUndefined();
      await start(busy, true);
      await start(idle, false);
      const used = await eventually(
        async () => {
          const found = await usage.of(busy);
          return found !== undefined && found.cpu > 100 ? found : undefined;
        },
        { within: within ?? 15_000, what: "a busy function" },
      );
      const little =
        within === undefined
          ? await usage.of(idle)
          : await eventually(() => usage.of(idle), { within, what: "the idle function" });

      expect(used.cpu).toBeLessThan(64_000);
      expect(used.totalMemoryBytes).toBeGreaterThan(100_000);
      expect(used.totalMemoryBytes).toBeLessThan(4_000_000_000);
      expect(little?.cpu).toBeLessThan(used.cpu);
      await end(busy);
      const isOver = async (): Promise<boolean> => (await usage.of(busy)) === undefined;
      if (within === undefined) expect(await isOver()).toBe(true);
      else await eventually(isOver, { within, what: "its end" });
    } finally {
      await close();
    }
  });
}
