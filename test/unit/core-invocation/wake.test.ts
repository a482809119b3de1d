import { afterEach, describe, expect, test, vi } from "vitest";

import { PlatformError } from "../../../runtime/api/platform-error.ts";
import type { TableEntry } from "../../../runtime/core/function-table.ts";
import { Waker } from "../../../runtime/core/wake.ts";
import { createTestPlatform, type TestPlatform } from "../../support/sync-gateway.ts";

function open(options: { wakeTimeout?: number; maxWaitingCallers?: number } = {}): {
  platform: TestPlatform;
  waker: Waker;
} {
  const platform = createTestPlatform();
  const { wakeTimeout = 60_000, maxWaitingCallers = 10_000 } = options;
  return {
    platform,
    waker: new Waker({ functions: platform.store, table: platform.table, wakeTimeout, maxWaitingCallers }),
  };
}

function entryOf(platform: TestPlatform, name: string): TableEntry {
  const entry = platform.table.findKey(name);
  if (entry === undefined) throw new Error("not there");
  return entry;
}

const codeOf = (err: unknown): string => (err instanceof PlatformError ? err.code : String(err));

describe("Waker", () => {
  afterEach(() => void vi.useRealTimers());

  test("a ready replica needs no waiting and no write", async () => {
    const { platform, waker } = open();
    platform.deploy("figlet", { addresses: ["a:1"] });

    expect((await waker.wait(entryOf(platform, "figlet"))).address).toBe("a:1");
    expect(platform.store.writes).toBe(0);
  });

  test("many callers cause one scale-up to scale.min and are served in order", async () => {
    const { platform, waker } = open();
    platform.deploy("figlet", { replicas: 0, labels: { "com.service.scale.min": "2" } });
    const served: number[] = [];
    const waits = Array.from({ length: 5_000 }, (_, index) =>
      waker.wait(entryOf(platform, "figlet")).then(() => served.push(index)),
    );
    await vi.waitFor(() => expect(platform.store.functions.get("figlet.functions")?.replicas).toBe(2));
    expect(waker.waitingCallers).toBe(5_000);

    platform.setReplicas("figlet", ["a:1", "b:1"]);
    await Promise.all(waits);

    expect(served).toEqual(Array.from({ length: 5_000 }, (_, index) => index));
    expect(platform.store.writes).toBe(1);
    expect(waker.waitingCallers).toBe(0);
  });

  test("no write when replicas are wanted already", async () => {
    const { platform, waker } = open();
    platform.deploy("figlet", { replicas: 1 });
    const waited = waker.wait(entryOf(platform, "figlet"));
    platform.setReplicas("figlet", ["a:1"]);

    expect((await waited).address).toBe("a:1");
    expect(platform.store.writes).toBe(0);
  });

  test("scales up again when something scales it down while callers wait", async () => {
    const { platform, waker } = open();
    platform.deploy("figlet", { replicas: 0 });
    const waited = waker.wait(entryOf(platform, "figlet"));
    await vi.waitFor(() => expect(platform.store.writes).toBe(1));
    platform.store.put({ ...entryOf(platform, "figlet").wanted, replicas: 0 });
    await vi.waitFor(() => expect(platform.store.writes).toBe(2));

    platform.setReplicas("figlet", ["a:1"]);
    expect((await waited).address).toBe("a:1");
  });

  test("gives up after the wake timeout, with what the provider says", async () => {
    vi.useFakeTimers();
    const { platform, waker } = open();
    platform.deploy("figlet", { replicas: 1 });
    const stalled = {
      type: "Stalled",
      status: "True",
      reason: "X",
      message: "it exits with code 3",
      lastTransitionTime: "",
    } as const;
    const refused = expect(waker.wait(entryOf(platform, "figlet"))).rejects.toMatchObject({
      code: "no_ready_replica",
      message: 'Cannot wake function "figlet.functions": no replica ready after 60 s (it exits with code 3)',
      retryAfterSeconds: 5,
    });
    platform.setReplicas("figlet", [], [stalled]);
    await vi.advanceTimersByTimeAsync(60_000);
    await refused;
    expect(waker.waitingCallers).toBe(0);
  });

  test("refuses more callers than may wait", async () => {
    const { platform, waker } = open({ maxWaitingCallers: 1 });
    platform.deploy("figlet", { replicas: 0 });
    const first = waker.wait(entryOf(platform, "figlet"));
    expect(codeOf(await waker.wait(entryOf(platform, "figlet")).catch((err: unknown) => err))).toBe("no_ready_replica");
    platform.setReplicas("figlet", ["a:1"]);
    await first;
  });

  test("ends with the function, with its signal, and with the store's failure", async () => {
    const { platform, waker } = open();
    platform.deploy("gone", { replicas: 1 });
    const gone = waker.wait(entryOf(platform, "gone"));
    await platform.store.remove({ name: "gone", namespace: "functions" });
    expect(codeOf(await gone.catch((err: unknown) => err))).toBe("function_not_found");

    platform.deploy("figlet", { replicas: 1 });
    const controller = new AbortController();
    const left = waker.wait(entryOf(platform, "figlet"), controller.signal);
    controller.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");

    platform.deploy("cold", { replicas: 0 });
    platform.store.failure = new PlatformError("provider_unavailable", "Cannot reach the store: it is away");
    expect(codeOf(await waker.wait(entryOf(platform, "cold")).catch((err: unknown) => err))).toBe(
      "provider_unavailable",
    );
    expect(waker.waitingCallers).toBe(0);
  });
});
