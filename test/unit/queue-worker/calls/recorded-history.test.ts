import { afterEach, expect, test } from "vitest";

import { callChangeRow } from "../../../../runtime/core/history/call-change-row.ts";
import { callTimeline } from "../../../../runtime/core/history/call-timeline.ts";
import type { HistoryCall } from "../../../../runtime/core/history/history-row.ts";
import type { CallLedger } from "../../../../runtime/core/ports/call-ledger.ts";
import { workerName } from "../../../../runtime/queue-worker/worker-name.ts";
import { ledgerWith } from "../../../contract/samples.ts";
import { eventually } from "../../../support/eventually.ts";
import { useJumpingClock } from "../../../support/use-jumping-clock.ts";
import { answered, hang, mortal, WorkerBench } from "../../../support/worker-bench.ts";

useJumpingClock();

let bench: WorkerBench;
afterEach(() => bench.close());

/** What the history makes of all that is written to a ledger. */
class WatchedLedger {
  readonly ledger: CallLedger;
  call: HistoryCall | undefined;

  constructor(inner: CallLedger) {
    this.ledger = ledgerWith(inner, {
      update: async (id, entry, revision) => {
        const outcome = await inner.update(id, entry, revision);
        if (outcome.kind !== "written") return outcome;
        const stamped = { ...entry, expires: entry.expires ?? 0 };
        const after = callChangeRow(this.call, { kind: "entry", id, revision: outcome.revision, entry: stamped });
        if (after !== "unchanged") this.call = after;
        return outcome;
      },
    });
  }

  /** The timeline now, without times. */
  steps() {
    if (this.call === undefined) throw new Error("nothing was written");
    return callTimeline(this.call, this.ledger.now()).map((timed) => {
      const { at: _at, ms: _ms, next: _next, ...step } = timed;
      return step;
    });
  }
}

test("the records of a call that was retried, taken over and called back at the third try tell all of it", async () => {
  bench = new WorkerBench({ ackWait: 1_500 });
  const { ledger } = bench.parts();
  const watched = new WatchedLedger(ledger);
  const doomed = mortal(bench.parts({ ledger: watched.ledger, worker: "node-1:10" }));
  bench.answer = (call, options) => {
    if (options.attempt === 1) return answered(503);
    return options.attempt === 2 ? hang(call, options) : answered();
  };
  let replies = 0;
  bench.callbackAnswer = () => {
    replies += 1;
    if (replies === 1) return { kind: "unreachable", error: "connect ECONNREFUSED" };
    return { kind: "responded", status: replies === 2 ? 500 : 204, retryAfter: undefined };
  };
  bench.start(doomed.parts);
  const id = await bench.accept({ callbackUrl: "https://u.example/p" });
  await eventually(() => bench.runsOf(id).length === 2, { what: "the second run" });
  doomed.kill();
  bench.start({ ledger: watched.ledger, worker: "node-2:20" });
  const sent = await eventually(
    async () => {
      const entry = await bench.entry(id);
      return entry.callback?.state === "sent" ? entry : undefined;
    },
    { what: "the callback to be recorded" },
  );

  const replica = "replica:1";
  expect(watched.steps()).toEqual([
    { kind: "accepted" },
    { kind: "taken", attempt: 1, worker: "node-1:10" },
    { kind: "started", attempt: 1, replica },
    { kind: "answered", attempt: 1, replica, status: 503 },
    { kind: "retry", attempt: 1, reason: "answered 503" },
    { kind: "taken", attempt: 2, worker: "node-1:10" },
    { kind: "lost", attempt: 2, worker: "node-1:10", reason: "the queue-worker was lost" },
    { kind: "taken", attempt: 3, worker: "node-2:20" },
    { kind: "started", attempt: 3, replica },
    { kind: "answered", attempt: 3, replica, status: 200 },
    { kind: "ended", status: 200 },
    { kind: "callbackTry", attempt: 1, reason: "connect ECONNREFUSED" },
    { kind: "callbackTry", attempt: 2, status: 500, reason: "answered 500" },
    { kind: "callbackTry", attempt: 3, status: 204 },
    { kind: "callbackEnded", status: 204 },
  ]);
  expect(sent.attempts[0]?.next).toBeGreaterThan(sent.attempts[0]?.endedAt ?? Number.POSITIVE_INFINITY);
  expect(sent.callback?.tries?.map(({ number }) => number)).toEqual([1, 2, 3]);
});

test("the record says how long a run waited for a replica, also if none came", async () => {
  bench = new WorkerBench({ attempts: 1 });
  bench.table.endpointsObserver.removed({ namespace: "functions", name: "echo" });
  bench.start();
  const id = await bench.accept();
  const waiting = await bench.until(id, "waiting");
  const [first] = waiting.attempts;
  expect(first).toMatchObject({ status: 503, worker: "bench:1", coldStart: expect.any(Number) });
  expect(first?.coldStart).toBeGreaterThan(0);
  expect(first).not.toHaveProperty("replica");
  bench.table.endpointsObserver.set({
    namespace: "functions",
    name: "echo",
    addresses: ["replica:2"],
    names: { "replica:2": "echo-b" },
    observedGeneration: 1,
    conditions: [],
  });
  const done = await bench.until(id, "done");
  expect(done.attempts[1]).toMatchObject({ replica: "echo-b", status: 200 });
});

test("a run that was handed back says where it was", async () => {
  bench = new WorkerBench();
  bench.answer = hang;
  const worker = bench.start();
  const id = await bench.accept();
  await eventually(() => bench.runsOf(id).length === 1, { what: "the run" });
  await worker.stop(0);
  expect((await bench.entry(id)).attempts).toMatchObject([
    { worker: "bench:1", replica: "replica:1", error: "the queue-worker stopped" },
  ]);
});

test("a worker is named by the end of its host's name, and its process", () => {
  expect(workerName("node-1", 4_711)).toBe("node-1:4711");
  expect(workerName(`${"x".repeat(50)}-7d9f8b6c5-x2x4z`, 1)).toMatch(/^x{24}-7d9f8b6c5-x2x4z:1$/);
});
