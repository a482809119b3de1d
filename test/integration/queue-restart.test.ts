import { afterEach, expect, test } from "vitest";

import { clockError } from "../support/clock-error.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure, inWords } from "../support/figure.ts";
import type { Platform } from "../support/platform.ts";

const ackWait = 2_000;
const retryAfter = 3_000;

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

async function restartAll(platform: Platform, how: "kill" | "stop"): Promise<void> {
  const processes = [platform.gateway, ...platform.workers, platform.doctor];
  await Promise.all(processes.map((each) => each[how]()));
  await platform.server[how]();
  await platform.server.restart();
  await platform.doctor.start();
  await Promise.all(processes.filter((each) => each !== platform.doctor).map((each) => each.start()));
}

test.each(["kill", "stop"] as const)("after a %s of everything all continues where it was", async (how) => {
  const opened = (bench = await openFaultBench({ ackWait, upstreamTimeout: 2_000, callbackWindow: 60_000 }));
  const { platform, sink } = opened;
  const arrivals = new Map<string, number[]>();
  let hold = true;
  await opened.open("mixed", (request, response) => {
    const id = String(request.headers["x-call-id"]);
    const seen = arrivals.get(id) ?? [];
    arrivals.set(id, [...seen, performance.now()]);
    if (request.url === "/later" && seen.length === 0)
      response.writeHead(503, { "Retry-After": String(retryAfter / 1_000) }).end();
    else if (request.url !== "/held" || !hold) response.end(`run ${seen.length + 1}`);
  });

  sink.answerAlways({ kind: "status", status: 500 });
  const done = await platform.calls.accepted("mixed", { body: "done" });
  const pending = await platform.calls.accepted("mixed", { callbackUrl: sink.url });
  const waiting = await platform.calls.accepted("mixed", { tail: "/later" });
  await platform.calls.ended(done);
  await eventually(async () => ((await platform.calls.status(pending))?.callback?.attempts ?? 0) > 0, {
    what: "an attempt of the callback",
  });
  await platform.calls.until(waiting, ["waiting"]);
  const running = await platform.calls.accepted("mixed", { tail: "/held" });
  await eventually(() => arrivals.has(running), { every: 5, what: "the run" });
  const queued = await Promise.all(
    Array.from({ length: 10 }, () => platform.calls.accepted("mixed", { body: "queued" })),
  );

  const before = performance.now();
  hold = false;
  await restartAll(platform, how);
  const back = performance.now();
  sink.answerAlways({ kind: "status", status: 200 });

  for (const id of [running, ...queued]) expect((await platform.calls.ended(id)).state).toBe("done");
  for (const id of queued) {
    expect(arrivals.get(id)).toHaveLength(1);
    expect(arrivals.get(id)?.[0]).toBeGreaterThan(before);
  }
  expect(await platform.calls.status(running)).toMatchObject({ retries: how === "kill" ? 0 : 1 });
  expect(arrivals.get(running)).toHaveLength(2);

  expect(await platform.calls.ended(waiting)).toMatchObject({ state: "done", retries: 1 });
  const [first = 0, second = 0, ...more] = arrivals.get(waiting) ?? [];
  expect(more).toEqual([]);
  expect(second - first).toBeGreaterThan(retryAfter - clockError);
  expect(second - Math.max(first + retryAfter, back)).toBeLessThan(3 * (ackWait + 500));
  figure("S12", `a retry after ${inWords(retryAfter)} came after ${inWords(second - first)}, all restarted meanwhile`);

  const callback = await eventually(() => sink.of(pending).find(({ answered }) => answered === 200), {
    what: "the callback",
  });
  expect(callback.headers).toMatchObject({ "x-function-status": "200", "x-function-name": "mixed" });
  expect(callback.body.toString()).toBe("run 1");
  expect((await platform.calls.result(done)).body.toString()).toBe("run 1");
  expect((await platform.calls.status(done))?.state).toBe("done");

  expect(await platform.calls.accepted("mixed", { id: done, body: "done" })).toBe(done);
  const { violations } = await opened.settle({ extraRuns: how === "kill" ? 1 : 0 });
  expect(violations).toEqual([]);
  expect(arrivals.get(done)).toHaveLength(1);
});

test("a function that was deployed while a worker was paused is run", async () => {
  const opened = (bench = await openFaultBench());
  const { platform } = opened;
  platform.worker.pause();
  await opened.open("fresh");
  const ids = await Promise.all(Array.from({ length: 3 }, () => platform.calls.accepted("fresh")));
  platform.worker.resume();

  for (const id of ids) expect(await platform.calls.ended(id)).toMatchObject({ state: "done" });
  expect((await opened.settle()).violations).toEqual([]);
});
