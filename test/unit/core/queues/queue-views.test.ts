import { beforeEach, describe, expect, test } from "vitest";

import { MemoryActivity } from "../../../support/memory/memory-activity.ts";
import { MemoryDeadLetters } from "../../../support/memory/memory-dead-letters.ts";
import type { DeadLetter } from "../../../../runtime/core/ports/dead-letters.ts";
import { declareDefaultQueue } from "../../../../runtime/core/queues/queue-defaults.ts";
import { QueueTable } from "../../../../runtime/core/queues/queue-table.ts";
import { knownQueue, knownQueues, showDeadLetters, showQueue } from "../../../../runtime/core/queues/queue-views.ts";
import { WorkerSums } from "../../../../runtime/core/queues/worker-sums.ts";
import { sampleQueue } from "../../../contract/samples.ts";

const letter = (id: string): DeadLetter => ({
  kind: "call",
  id,
  queue: "default",
  function: { namespace: "functions", name: "echo" },
  reason: "exhausted",
  attempts: 3,
  lastStatus: 500,
  acceptedAt: 0,
  deadAt: 1_000,
  redrives: 0,
  headers: new Map(),
  body: Buffer.from("abc"),
});

let letters: MemoryDeadLetters;

beforeEach(async () => {
  letters = new MemoryDeadLetters();
  for (let n = 1; n <= 101; n++) await letters.put(letter(`call-${n}`));
});

test("queues are listed by name; the error for an undeclared one names the declared ones", () => {
  const table = new QueueTable();
  for (const name of ["default", "slow", "bulk"]) table.observer.set(sampleQueue({ name }));
  table.observer.synced();
  expect(table.list().map(({ name }) => name)).toEqual(["bulk", "default", "slow"]);
  expect(knownQueue(table, "slow", "enterprise").name).toBe("slow");
  table.observer.removed("bulk");
  expect(() => knownQueue(table, "bulk", "enterprise")).toThrow(
    'Cannot find queue "bulk": it is not declared, only "default", "slow"; the setting queues declares more',
  );
  expect(() => knownQueue(table, "bulk", "enterprise")).toThrow(expect.objectContaining({ code: "queue_not_found" }));
  expect(() => knownQueue(table, "bulk", "pro")).toThrow(
    'Cannot find queue "bulk": it is not declared, only "default", "slow"; edition "pro" has no others, they need edition "enterprise"',
  );
});

test("before the declarations are known no queue is reported missing: 503 with a retry", () => {
  const table = new QueueTable();
  const refusal = expect.objectContaining({ code: "queue_unavailable", callQueued: "no", retryAfterSeconds: 1 });
  const sentence =
    'Cannot find queue "slow": the broker is away, or the queue-doctor has not declared its queues yet; try again later';
  const find = () => knownQueue(table, "slow", "enterprise");
  expect(find).toThrow(sentence);
  expect(find).toThrow(refusal);
  expect(() => knownQueues(table)).toThrow(refusal);
  expect(() => knownQueues(table)).toThrow(
    "Cannot list the queues: the broker is away, or the queue-doctor has not declared its queues yet; try again later",
  );
  // The bucket exists, and the doctor has not written the default queue, which it writes last.
  table.observer.set(sampleQueue({ name: "bulk" }));
  table.observer.synced();
  expect(find).toThrow(refusal);
  table.observer.set(sampleQueue());
  expect(find).toThrow(expect.objectContaining({ code: "queue_not_found" }));
  expect(knownQueues(table)).toHaveLength(2);
});

test("declarations are not known while some may still be to come", () => {
  const table = new QueueTable();
  table.observer.set(sampleQueue());
  expect(table.isKnown).toBe(false);
  table.observer.synced();
  expect(table.isKnown).toBe(true);
});

test("the first report of every worker is waited for from the start of the process, by its clock", () => {
  const { untilComplete } = new WorkerSums(new MemoryActivity());
  expect(untilComplete).toBeGreaterThanOrEqual(0);
  expect(untilComplete).toBeLessThanOrEqual(1_200);
});

test("a queue is shown with its own state, workers and dead letters", async () => {
  const activity = new MemoryActivity();
  let now = 0;
  const workers = new WorkerSums(activity, () => now);
  now = 2_000;
  const worker = { queue: "default", slots: 4, running: 1 };
  activity.publish({ source: "worker", number: 1, deltas: [], worker });
  await Promise.resolve();
  const empty = { fresh: 0, onLoan: 1, first: 1, last: 1, firstAt: 0, lastAt: 0, delivered: 1, now: 500 };
  const reads: string[] = [];
  const states = {
    read: async (queue: string) => {
      reads.push(queue);
      return empty;
    },
    depths: async () => expect.fail("nobody needs that"),
  };
  const place = { edition: "enterprise", home: "machine" } as const;
  const shown = await showQueue({ table: new QueueTable(), states, workers, letters, place }, sampleQueue());
  expect(shown).toMatchObject({ name: "default", queued: 0, running: 1, deadLetters: 101, oldestAgeSeconds: 0.5 });
  expect(reads).toEqual(["default"]);
});

describe("dead letters", () => {
  test("come in pages, each naming where the next begins", async () => {
    const page = await showDeadLetters(letters, "default", { limit: "60" });
    expect(page.items.map(({ callId }) => callId).slice(0, 2)).toEqual(["call-1", "call-2"]);
    expect(page.items).toHaveLength(60);
    expect(page.next).toBeDefined();
    const rest = await showDeadLetters(letters, "default", { limit: "60", after: page.next ?? "" });
    expect(rest.items).toHaveLength(41);
    expect(rest.items[0]?.callId).toBe("call-61");
    expect(rest).not.toHaveProperty("next");
    expect(await showDeadLetters(letters, "slow", {})).toEqual({ items: [] });
  });

  test("a page has 100 dead letters, or as many as requested from 1 to 1000", async () => {
    for (const limit of ["", undefined]) {
      const parameters = limit === undefined ? {} : { limit };
      expect((await showDeadLetters(letters, "default", parameters)).items).toHaveLength(100);
    }
    expect((await showDeadLetters(letters, "default", { limit: "1" })).items).toHaveLength(1);
    expect((await showDeadLetters(letters, "default", { limit: "1000" })).items).toHaveLength(101);
    for (const limit of ["0", "1001", "-1", "1.5", "x1", "1x", " "]) {
      await expect(showDeadLetters(letters, "default", { limit }), limit).rejects.toThrow(
        expect.objectContaining({
          code: "validation_failed",
          message: `Cannot read limit "${limit}": expected a whole number from 1 to 1000`,
        }),
      );
    }
  });

  test("a page begins where the previous one said", async () => {
    expect((await showDeadLetters(letters, "default", { after: "0" })).items[0]?.callId).toBe("call-1");
    expect((await showDeadLetters(letters, "default", { after: "9007199254740991" })).items).toEqual([]);
    for (const after of ["-1", "x", "9007199254740992", "10000000000000000"]) {
      await expect(showDeadLetters(letters, "default", { after }), after).rejects.toThrow(
        `Cannot read after "${after}": expected next of the previous page`,
      );
    }
  });
});

test("the default queue is declared from the settings, retries transient failures, and is not strict", () => {
  const facts = { replicas: 2, maxInflight: 3, timeout: 4, ackWait: 5, maxLength: 6 };
  const retry = { retryAttempts: 7, retryMinWait: 8, retryMaxWait: 9 };
  expect(declareDefaultQueue({ ...facts, ...retry })).toEqual({
    ...facts,
    name: "default",
    strict: false,
    retry: { attempts: 7, codes: [408, 429, 500, 502, 503, 504], minWait: 8, maxWait: 9 },
  });
});
