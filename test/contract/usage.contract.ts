import { expect, test } from "vitest";

import type { FunctionRef } from "../../runtime/core/function-ref.ts";
import type { Usage } from "../../runtime/core/ports/usage.ts";
import { eventually } from "../support/eventually.ts";

/** Opened usage, how functions come to run, and how to close it. */
export interface OpenUsage {
  readonly usage: Usage;
  /** Starts a replica, which keeps a processor busy or does nothing; resolves when it runs. */
  start(ref: FunctionRef, busy: boolean): Promise<void>;
  /** Ends all replicas of a function. */
  end(ref: FunctionRef): Promise<void>;
  close(): Promise<void>;
}

const busy: FunctionRef = { namespace: "functions", name: "busy" };
const idle: FunctionRef = { namespace: "functions", name: "idle" };

/** What every `Usage` promises. */
export function usageContract(open: () => Promise<OpenUsage>): void {
  test("of() tells what running replicas use, and nothing of a function without any", async () => {
    const { usage, start, end, close } = await open();
    try {
      expect(await usage.of(busy)).toBeUndefined();
      await start(busy, true);
      await start(idle, false);
      const used = await eventually(
        async () => {
          const found = await usage.of(busy);
          return found !== undefined && found.cpu > 100 ? found : undefined;
        },
        { within: 15_000, what: "a busy function" },
      );
      const little = await usage.of(idle);

      expect(used.cpu).toBeLessThan(64_000);
      expect(used.totalMemoryBytes).toBeGreaterThan(100_000);
      expect(used.totalMemoryBytes).toBeLessThan(4_000_000_000);
      expect(little?.cpu).toBeLessThan(used.cpu);
      await end(busy);
      expect(await usage.of(busy)).toBeUndefined();
    } finally {
      await close();
    }
  });
}
