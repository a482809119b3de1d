import { randomUUID } from "node:crypto";

import { afterEach, expect, test } from "vitest";

import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { preciseNow } from "../support/precise-now.ts";

/** A worker that gets no processor for so long loses its call: that would be an extra run that nothing here caused. */
const ackWait = 5_000;

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

/**
 * Crashes in the order of `queue.md` §5, each after (or before, as `kind` says) an operation of a port: after one step
 * is before the next. `again` says whether one more run is allowed.
 */
const points = [
  { step: "before W1", operation: "CallLedger.read", nth: 1, kind: "kill-before", call: "done", again: false },
  { step: "after W1", operation: "CallLedger.read", nth: 1, kind: "kill-after", call: "done", again: false },
  { step: "after W2", operation: "CallLedger.update running", nth: 1, kind: "kill-after", call: "done", again: false },
  { step: "after W3", operation: "CallLedger.putResult", nth: 1, kind: "kill-before", call: "done", again: true },
  { step: "after W6", operation: "CallLedger.putResult", nth: 1, kind: "kill-after", call: "done", again: true },
  { step: "after W7", operation: "CallLedger.update done", nth: 1, kind: "kill-after", call: "done", again: false },
  { step: "after W8", operation: "CallbackQueue.put", nth: 1, kind: "kill-after", call: "done", again: false },
  { step: "after W9", operation: "CallLedger.update done", nth: 2, kind: "kill-after", call: "done", again: false },
  { step: "after W10", operation: "Delivery.acknowledge", nth: 1, kind: "kill-after", call: "done", again: false },
  {
    step: "before W4",
    operation: "CallLedger.update waiting",
    nth: 1,
    kind: "kill-before",
    call: "retried",
    again: true,
  },
  {
    step: "after W4",
    operation: "CallLedger.update waiting",
    nth: 1,
    kind: "kill-after",
    call: "retried",
    again: false,
  },
  { step: "after W5", operation: "Delivery.requeue", nth: 1, kind: "kill-after", call: "retried", again: false },
  { step: "before W8", operation: "DeadLetters.put", nth: 1, kind: "kill-before", call: "exhausted", again: false },
  { step: "after W8", operation: "DeadLetters.put", nth: 1, kind: "kill-after", call: "exhausted", again: false },
] as const;

test("FW2 SIGKILL of a worker before and after every step: one more run before W7, none from W7 on", async () => {
  const opened = (bench = await openFaultBench({ ackWait, retryAttempts: 1 }));
  const { platform, sink } = opened;
  await opened.open("scripted", (request, response) => {
    const script = request.headers["x-script"];
    const first = request.headers["x-call-attempt"] === "1";
    response.writeHead(script === "exhausted" || (script === "retried" && first) ? 500 : 200).end("out");
  });
  // Only the worker that is to die claims calls; the next ones take over those that it leaves behind.
  await platform.worker.kill();
  const calls = points.map((point) => {
    const { operation, nth, kind } = point;
    const id = randomUUID();
    return { id, point, dying: platform.add("worker", { faults: [{ operation, nth, call: id, fault: { kind } }] }) };
  });
  const deaths: number[] = [];
  await calls[0]?.dying.start();
  for (const [index, { id, point, dying }] of calls.entries()) {
    const headers = { "x-script": point.call };
    await platform.calls.accepted("scripted", { id, headers, callbackUrl: sink.url });
    // The next one takes longer to start than this one has to live.
    const next = calls[index + 1]?.dying.start();
    await dying.dies();
    deaths.push(preciseNow());
    await next;
  }
  await platform.worker.start();
  const { account, violations } = await opened.settle({
    within: 3 * ackWait + 10_000,
    extraRuns: points.filter(({ again }) => again).length,
    extraCallbacks: points.length,
  });
  expect(violations).toEqual([]);
  for (const { id, point } of calls) {
    const { step } = point;
    const record = await platform.calls.status(id);
    expect(record, step).toMatchObject({ state: point.call === "exhausted" ? "failed" : "done" });
    const runs = account.runs.filter((run) => run.id === id).length;
    const most = 1 + (record?.retries ?? 0) + (point.again ? 1 : 0);
    expect(runs, step).toBeLessThanOrEqual(most);
    const [first, ...more] = sink.of(id);
    expect(first, step).toBeDefined();
    // On a slow machine the next worker, too, may die between a callback and its acknowledgement.
    const diedSince = deaths.filter((at) => first !== undefined && at > first.at).length;
    expect(more.length, step).toBeLessThanOrEqual(diedSince);
    if (point.call === "exhausted") expect(await platform.broker.deadLetter(id), step).toBeDefined();
  }
});

test("FG2 SIGKILL of a gateway between G2 and G3, and between G3 and G4: the same id again runs once", async () => {
  const opened = (bench = await openFaultBench({ ackWait }));
  const { platform } = opened;
  for (const operation of ["CallLedger.create", "CallQueue.put"]) {
    const id = randomUUID();
    const dying = platform.add("gateway", { faults: [{ operation, nth: 1, call: id, fault: { kind: "kill-after" } }] });
    await dying.start();
    const sent = fetch(`http://127.0.0.1:${String(dying.ready["port"])}/async-function/working`, {
      method: "POST",
      headers: { "X-Call-Id": id },
      body: "15",
    });
    await expect(sent).rejects.toThrow();
    await dying.dies();

    expect(await platform.calls.accepted("working", { id, body: "15" })).toBe(id);
    expect((await platform.calls.ended(id)).state).toBe("done");
    expect(opened.working.requests.filter((seen) => seen.headers["x-call-id"] === id)).toHaveLength(1);
  }
  const { violations } = await opened.settle();
  expect(violations).toEqual([]);
});
