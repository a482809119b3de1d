import { getEventListeners } from "node:events";

import { afterEach, describe, expect, test, vi } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import type { TableEntry } from "../../../../runtime/core/replicas/function-table.ts";
import { functionConditions } from "../../../../runtime/core/functions/conditions.ts";
import { functionStoreWith } from "../../../../runtime/core/functions/function-store-with.ts";
import { Waker } from "../../../../runtime/core/replicas/wake.ts";
import { createTestPlatform, type TestPlatform } from "../../../support/sync-gateway.ts";

function open(options: { maxWaitingCallers?: number; maxWaitingBytes?: number } = {}): {
  platform: TestPlatform;
  waker: Waker;
} {
  const platform = createTestPlatform();
  const { maxWaitingCallers = 10_000, maxWaitingBytes = 1_000 } = options;
  return {
    platform,
    waker: new Waker({
      functions: platform.store,
      table: platform.table,
      wakeTimeout: 60_000,
      maxWaitingCallers,
      maxWaitingBytes,
    }),
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

  test("callers look into the store only once, and not at all where replicas are desired", async () => {
    const { platform } = open();
    const { table, store } = platform;
    let looks = 0;
    const functions = functionStoreWith(store, {
      write: async (...given) => {
        looks += 1;
        await Promise.resolve();
        return store.write(...given);
      },
    });
    const waker = new Waker({ functions, table, wakeTimeout: 60_000, maxWaitingCallers: 10, maxWaitingBytes: 10 });
    platform.deploy("figlet", { replicas: 0 });
    platform.deploy("ocr", { replicas: 1 });
    const waits = ["figlet", "figlet", "figlet", "ocr"].map((name) => waker.wait(entryOf(platform, name)));
    await vi.waitFor(() => expect(entryOf(platform, "figlet").wanted.replicas).toBe(1));
    expect(looks).toBe(1);
    for (const name of ["figlet", "ocr"]) platform.setReplicas(name, ["a:1"]);
    await Promise.all(waits);
    expect(looks).toBe(1);
  });

  test("no write when replicas are already desired", async () => {
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

  test("gives up after the wake timeout, with the reason of the provider", async () => {
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
    const publicly = expect(
      waker.wait(entryOf(platform, "figlet")).catch((err: PlatformError) => String(err.publicly)),
    ).resolves.toBe(
      'Cannot wake function "figlet.functions": no replica ready after 60 s (its replicas do not start; its conditions say why)',
    );
    platform.setReplicas("figlet", [], [stalled]);
    await vi.advanceTimersByTimeAsync(60_000);
    await refused;
    await publicly;
    expect(waker.waitingCallers).toBe(0);
  });

  test("a caller that waits again has the rest of its timeout", async () => {
    vi.useFakeTimers();
    const { platform, waker } = open();
    platform.deploy("figlet", { replicas: 1 });
    await vi.advanceTimersByTimeAsync(30_000);
    const since = performance.now();
    await vi.advanceTimersByTimeAsync(45_000);
    let refused = false;
    const again = expect(
      waker.wait(entryOf(platform, "figlet"), { since }).finally(() => (refused = true)),
    ).rejects.toMatchObject({ code: "no_ready_replica" });
    await vi.advanceTimersByTimeAsync(14_900);
    expect(refused).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(refused).toBe(true);
    await again;
  });

  test("refuses more callers than may wait", async () => {
    const { platform, waker } = open({ maxWaitingCallers: 1 });
    platform.deploy("figlet", { replicas: 0 });
    const first = waker.wait(entryOf(platform, "figlet"));
    expect(codeOf(await waker.wait(entryOf(platform, "figlet")).catch((err: unknown) => err))).toBe("no_ready_replica");
    platform.setReplicas("figlet", ["a:1"]);
    await first;
  });

  test("refuses callers above the limit of waiting bytes, and accepts others once those are served", async () => {
    const { platform, waker } = open();
    platform.deploy("figlet", { replicas: 0 });
    const entry = entryOf(platform, "figlet");
    const first = waker.wait(entry, { bytes: 600 });
    await expect(waker.wait(entry, { bytes: 401 })).rejects.toMatchObject({
      code: "no_ready_replica",
      message: 'Cannot wake function "figlet.functions": callers with 600 bytes are waiting already',
      retryAfterSeconds: 5,
    });
    const second = waker.wait(entry, { bytes: 400 });
    platform.setReplicas("figlet", ["a:1"]);
    await Promise.all([first, second]);
    platform.setReplicas("figlet", []);
    const third = waker.wait(entry, { bytes: 1_000 });
    platform.setReplicas("figlet", ["a:1"]);

    expect((await third).address).toBe("a:1");
  });

  describe("when replicas fail", () => {
    const at = "2026-01-01T00:00:00.000Z";
    const facts = { wanted: 1, ready: 0, readyCurrent: 0, existing: 0, superseded: 0, blocked: undefined };
    const last = { reason: "Error", message: "it exits with code 3" };
    const failing = (backingOff: boolean) =>
      functionConditions({ ...facts, backoff: { failures: 2, until: 0, last }, backingOff }, [], at);
    const refusal = {
      code: "no_ready_replica",
      message: 'Cannot wake function "figlet.functions": it exits with code 3',
      retryAfterSeconds: 5,
    };

    test("waiting callers get the failure, and new ones at once, until the next attempt", async () => {
      const { platform, waker } = open();
      platform.deploy("figlet", { replicas: 1 });
      const entry = entryOf(platform, "figlet");
      const waits = [waker.wait(entry), waker.wait(entry)].map((wait) => expect(wait).rejects.toMatchObject(refusal));
      platform.setReplicas("figlet", [], failing(true));
      await Promise.all(waits);
      await expect(waker.wait(entry)).rejects.toMatchObject(refusal);
      platform.setReplicas("figlet", [], failing(false));
      const waited = waker.wait(entry);
      platform.setReplicas("figlet", ["a:1"]);

      expect((await waited).address).toBe("a:1");
    });

    test("the status of a function at 0, or of an older generation, prevents no wake", async () => {
      const { platform, waker } = open();
      platform.deploy("figlet", { replicas: 0 });
      const entry = entryOf(platform, "figlet");
      platform.setReplicas("figlet", [], failing(true));
      const waited = waker.wait(entry);
      await vi.waitFor(() => expect(platform.store.writes).toBe(1));
      platform.setReplicas("figlet", ["a:1"]);
      await waited;
      platform.setReplicas("figlet", [], failing(true));
      platform.store.put({ ...entry.wanted, generation: 2, replicas: 1 });
      const other = waker.wait(entry);
      platform.setReplicas("figlet", ["a:1"]);

      expect((await other).address).toBe("a:1");
    });
  });

  test("ends with the function, with its signal, and with the store's failure", async () => {
    const { platform, waker } = open();
    platform.deploy("gone", { replicas: 1 });
    const gone = waker.wait(entryOf(platform, "gone"));
    await platform.store.remove({ name: "gone", namespace: "functions" });
    expect(codeOf(await gone.catch((err: unknown) => err))).toBe("function_not_found");

    platform.deploy("figlet", { replicas: 1 });
    const controller = new AbortController();
    const left = waker.wait(entryOf(platform, "figlet"), { signal: controller.signal });
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

describe("Waker, cleanup", () => {
  test("a caller whose signal is already aborted, or whose function is gone, does not wait", async () => {
    const { platform, waker } = open();
    platform.deploy("figlet", { replicas: 0 });
    const entry = entryOf(platform, "figlet");
    await expect(waker.wait(entry, { signal: AbortSignal.abort(new Error("left before")) })).rejects.toThrow(
      "left before",
    );
    expect(platform.store.writes).toBe(0);
    await platform.store.remove({ name: "figlet", namespace: "functions" });
    const removed = { code: "function_not_found", message: 'Cannot wake function "figlet.functions": it was removed' };
    await expect(waker.wait(entry)).rejects.toMatchObject(removed);
    expect(waker.waitingCallers).toBe(0);
  });

  test("waiting callers learn that the function was removed, further ones how many wait already", async () => {
    const { platform, waker } = open({ maxWaitingCallers: 1 });
    platform.deploy("figlet", { replicas: 1 });
    const waited = waker.wait(entryOf(platform, "figlet"));
    await expect(waker.wait(entryOf(platform, "figlet"))).rejects.toThrow(
      'Cannot wake function "figlet.functions": 1 callers are waiting already',
    );
    const removed = { code: "function_not_found", message: 'Cannot wake function "figlet.functions": it was removed' };
    const rejected = expect(waited).rejects.toMatchObject(removed);
    await platform.store.remove({ name: "figlet", namespace: "functions" });
    await rejected;
  });

  test("a caller that was served leaves no timer and no listener, and wakes nothing afterwards", async () => {
    vi.useFakeTimers();
    const { platform, waker } = open();
    platform.deploy("figlet", { replicas: 1 });
    const { signal } = new AbortController();
    const waited = waker.wait(entryOf(platform, "figlet"), { signal });
    expect([vi.getTimerCount(), getEventListeners(signal, "abort").length]).toEqual([1, 1]);
    platform.setReplicas("figlet", ["a:1"]);
    await waited;
    expect([vi.getTimerCount(), getEventListeners(signal, "abort").length]).toEqual([0, 0]);
    vi.useRealTimers();
    const before = platform.store.writes;
    platform.store.put({ ...entryOf(platform, "figlet").wanted, replicas: 0 });
    await Promise.resolve();
    expect(platform.store.writes).toBe(before);
  });
});

test.each<[type: "Stalled" | "Ready", status: "True" | "False", wakeTimeout: number, reason: string, text?: string]>([
  ["Stalled", "False", 60_000, "no replica ready after 60 s"],
  ["Ready", "True", 60_000, "no replica ready after 60 s"],
  ["Ready", "False", 60_000, "no replica ready after 60 s", "0 of 1 replicas are ready"],
  ["Ready", "False", 60_000, "no replica ready after 60 s (no: port)", "0 of 1 replicas are ready: no: port"],
  ["Stalled", "True", 60_000, "no replica ready after 60 s (the image is gone)"],
  ["Stalled", "False", 1_500, "no replica ready after 1s500ms"],
])("%s %s: after %i ms the caller gets %s", async (type, status, wakeTimeout, reason, text = "the image is gone") => {
  vi.useFakeTimers();
  const platform = createTestPlatform();
  const { store: functions, table } = platform;
  const waker = new Waker({ functions, table, wakeTimeout, maxWaitingCallers: 10, maxWaitingBytes: 10 });
  platform.deploy("figlet", { replicas: 1 });
  const message = `Cannot wake function "figlet.functions": ${reason}`;
  const refused = expect(waker.wait(entryOf(platform, "figlet"))).rejects.toMatchObject({ message });
  const condition = { type, status, reason: "X", message: text, lastTransitionTime: "" };
  platform.setReplicas("figlet", [], [condition]);
  await vi.advanceTimersByTimeAsync(wakeTimeout - 1);
  expect(waker.waitingCallers).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  await refused;
  vi.useRealTimers();
});

test("a function of which the provider reported nothing has no reason to tell", async () => {
  vi.useFakeTimers();
  const { platform, waker } = open();
  platform.deploy("figlet", { replicas: 1 });
  platform.store.put({ ...entryOf(platform, "figlet").wanted, name: "silent" });
  const message = 'Cannot wake function "silent.functions": no replica ready after 60 s';
  const refused = expect(waker.wait(entryOf(platform, "silent"))).rejects.toMatchObject({ message });
  await vi.advanceTimersByTimeAsync(60_000);
  await refused;
  vi.useRealTimers();
});
