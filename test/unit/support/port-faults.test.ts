import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { acceptedEntry } from "../../../runtime/core/calls/call-transitions.ts";
import type { QueuedCall } from "../../../runtime/core/calls/call.ts";
import type { CallLedger } from "../../../runtime/core/ports/call-ledger.ts";
import type { CallQueue, Delivery } from "../../../runtime/core/ports/call-queue.ts";
import { seededRandom } from "../../../scripts/random.ts";
import { faultPlan, type PortFault } from "../../support/fault-plan.ts";
import { faultyCallLedger, faultyCallQueue, faultyDeliverySource } from "../../support/port-faults.ts";

const call: QueuedCall = {
  id: "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1",
  queue: "default",
  function: { name: "echo", namespace: "functions" },
  start: 1n,
  depth: 0,
  method: "POST",
  path: "",
  query: undefined,
  callbackUrl: undefined,
  parentId: undefined,
  headers: [],
  body: new Uint8Array(),
};

const entry = { ...acceptedEntry(call, { digest: "", maxRetries: 10 }), expires: 0 };

function countingQueue(): CallQueue & { readonly puts: () => number } {
  let puts = 0;
  return {
    puts: () => puts,
    put: async () => {
      puts += 1;
      return { kind: "stored" };
    },
  };
}

function countingLedger(): CallLedger & { readonly used: string[] } {
  const used: string[] = [];
  const use = async <T>(name: string, result: T): Promise<T> => {
    used.push(name);
    return result;
  };
  return {
    used,
    create: () => use("create", { kind: "created", revision: 1 }),
    read: () => use("read", { entry, revision: 1, writtenAt: 0 }),
    update: () => use("update", { kind: "written", revision: 2 }),
    fill: () => 0.5,
    now: () => 0,
    withdraw: () => use("withdraw", undefined),
    putResult: () => use("putResult", true),
    readResult: () => use("readResult", undefined),
    removeResult: () => use("removeResult", undefined),
  };
}

const once = (operation: string, fault: PortFault) => faultPlan([{ operation, fault, nth: 1 }], 1);

describe("faultPlan", () => {
  test("acts at the n-th use of its operation", () => {
    const plan = faultPlan([{ operation: "CallQueue.put", fault: { kind: "timed-out" }, nth: 2 }], 1);
    const uses = ["CallQueue.put", "CallLedger.read", "CallQueue.put", "CallQueue.put"];

    expect(uses.map((use) => plan.decide(use)?.kind)).toEqual([undefined, undefined, "timed-out", undefined]);
    expect(plan.happened).toEqual(["CallQueue.put timed-out"]);
  });

  test("acts with its probability, equally for the same seed", () => {
    const rule = { operation: "*", fault: { kind: "unavailable" }, probability: 0.05 } as const;
    const decisions = (seed: number) => {
      const plan = faultPlan([rule], seed);
      return Array.from({ length: 4_000 }, () => plan.decide("CallQueue.put") !== undefined);
    };
    const share = decisions(7).filter(Boolean).length / 4_000;

    expect(decisions(7)).toEqual(decisions(7));
    expect(decisions(7)).not.toEqual(decisions(8));
    expect(share).toBeGreaterThan(0.03);
    expect(share).toBeLessThan(0.07);
    expect(seededRandom(7)()).toBe(seededRandom(7)());
  });
});

describe("faultyCallQueue", () => {
  test("passes on what no rule matches", async () => {
    const queue = countingQueue();
    expect(await faultyCallQueue(queue, faultPlan([])).put(call, 0)).toEqual({ kind: "stored" });
    expect(queue.puts()).toBe(1);
  });

  test.each([
    ["timed-out", "unknown", 0],
    ["answer-lost", "unknown", 1],
    ["unavailable", "refused", 0],
  ] as const)("%s shows as %s after %d puts", async (kind, outcome, puts) => {
    const queue = countingQueue();
    const faulty = faultyCallQueue(queue, once("CallQueue.put", { kind }));

    expect((await faulty.put(call, 0)).kind).toBe(outcome);
    expect(queue.puts()).toBe(puts);
    expect((await faulty.put(call, 0)).kind).toBe("stored");
  });

  test("delays an operation, and still does it", async () => {
    const queue = countingQueue();
    const begin = performance.now();
    await faultyCallQueue(queue, once("CallQueue.put", { kind: "delayed", by: 30 })).put(call, 0);

    expect(performance.now() - begin).toBeGreaterThan(20);
    expect(queue.puts()).toBe(1);
  });

  test.each([
    ["kill-before", ""],
    ["kill-after", "put"],
  ])("%s ends the process by force", (kind, written) => {
    const program = `
      const { faultyCallQueue } = await import(${JSON.stringify(moduleAt("port-faults.ts"))});
      const { faultPlan } = await import(${JSON.stringify(moduleAt("fault-plan.ts"))});
      const { writeSync } = await import("node:fs");
      const queue = { put: async () => (writeSync(1, "put"), { kind: "stored" }) };
      const plan = faultPlan([{ operation: "CallQueue.put", fault: { kind: ${JSON.stringify(kind)} }, nth: 1 }]);
      await faultyCallQueue(queue, plan).put({}, 0);
      writeSync(1, " and lived");
    `;
    const ended = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
      timeout: 20_000,
    });

    expect(ended.signal).toBe("SIGKILL");
    expect(ended.stdout).toBe(written);
  });
});

describe("faultyCallLedger", () => {
  test("create and update return outcomes of their port", async () => {
    const lost = countingLedger();
    const outcome = await faultyCallLedger(lost, once("CallLedger.create", { kind: "answer-lost" })).create(
      "a",
      entry,
      0,
    );
    expect(outcome.kind).toBe("unknown");
    expect(lost.used).toEqual(["create"]);

    const away = countingLedger();
    const refused = await faultyCallLedger(away, once("CallLedger.create", { kind: "unavailable" })).create(
      "a",
      entry,
      0,
    );
    expect(refused).toMatchObject({ kind: "refused", because: "unavailable" });
    expect(away.used).toEqual([]);

    const update = (kind: "answer-lost" | "unavailable", ledger: CallLedger) =>
      faultyCallLedger(ledger, once("CallLedger.update", { kind })).update("a", entry, 1);
    expect((await update("answer-lost", lost)).kind).toBe("unknown");
    expect(lost.used).toEqual(["create", "update"]);
    expect(await update("unavailable", away)).toMatchObject({ kind: "refused", because: "unavailable" });
    expect(away.used).toEqual([]);
  });

  test("the others reject with queue_unavailable, executed or not", async () => {
    const ledger = countingLedger();
    const faulty = faultyCallLedger(
      ledger,
      faultPlan([{ operation: "*", fault: { kind: "answer-lost" }, probability: 1 }], 1),
    );
    const unavailable = { code: "queue_unavailable" };

    await expect(faulty.read("a")).rejects.toMatchObject(unavailable);
    await expect(
      faulty.putResult("a", 1, { status: 200, headers: [], body: new Uint8Array(), duration: 1 }, 1),
    ).rejects.toMatchObject(unavailable);
    await expect(faulty.withdraw("a", 1)).resolves.toBeUndefined();
    expect(faulty.fill()).toBe(0.5);
    expect(ledger.used).toEqual(["read", "putResult", "withdraw"]);
  });
});

test("faultyDeliverySource loses acknowledgements", async () => {
  let acknowledged = 0;
  const delivery: Delivery<string> = {
    content: { read: "a" },
    raw: { headers: new Map(), body: new Uint8Array() },
    queue: "default",
    sequence: 1,
    storedAt: 0,
    deliveredAt: 0,
    extend: () => true,
    acknowledge: async () => {
      acknowledged += 1;
      return true;
    },
    requeue: () => undefined,
  };
  const plan = once("Delivery.acknowledge", { kind: "answer-lost" });
  const source = faultyDeliverySource({ take: (_slots, handle) => handle(delivery) }, plan);
  const results: boolean[] = [];
  await source.take(
    1,
    async (offered) => {
      results.push(await offered.acknowledge(), await offered.acknowledge());
    },
    new AbortController().signal,
  );

  expect(results).toEqual([false, true]);
  expect(acknowledged).toBe(2);
});

function moduleAt(name: string): string {
  return fileURLToPath(new URL(`../../support/${name}`, import.meta.url));
}
