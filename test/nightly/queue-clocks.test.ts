import { afterEach, expect, test } from "vitest";

import { clockError } from "../support/clock-error.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";

const hour = 3_600_000;
const clock = (by: number) => ({
  preload: [`${new URL("../support/preload/shifted-clock.ts", import.meta.url).href}?by=${by}`],
});

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("FB11 clocks an hour and a day off: leases, delays and results unaffected, nothing runs twice", async () => {
  const { platform, working, ...opened } = (bench = await openFaultBench({
    slots: 4,
    ackWait: 3_000,
    gateway: clock(24 * hour),
    worker: clock(-24 * hour),
    callbackWindow: 60_000,
  }));
  // Workers with four clocks share one queue.
  for (const by of [hour, -hour, 24 * hour]) await platform.add("worker", clock(by)).start();
  const later = await opened.open("later", (request, response) =>
    response.writeHead(request.headers["x-call-attempt"] === "1" ? 503 : 200, { "Retry-After": "2" }).end("late"),
  );
  opened.sink.answerNext({ kind: "status", status: 503 });
  const waiting = await platform.calls.accepted("later", { callbackUrl: opened.sink.url });
  // Longer than the lease: a worker that trusted its own clock would take it over at a redelivery.
  await opened.load({ rate: 50, count: 12, body: () => "5000" });
  await opened.load({ rate: 50, count: 100 });

  expect(await platform.calls.ended(waiting)).toMatchObject({ state: "done", retries: 1 });
  expect((await platform.calls.result(waiting)).body.toString()).toBe("late");
  await opened.sink.waitFor(waiting);
  const cancelled = await platform.calls.accepted("working", { body: "8000" });
  await eventually(() => working.requests.some((seen) => seen.headers["x-call-id"] === cancelled), {
    what: "the run",
  });
  expect((await platform.calls.cancel(cancelled)).status).toBe(202);

  const { account, counts, violations } = await opened.settle();
  expect(violations, JSON.stringify(counts)).toEqual([]);
  const [first, second] = account.runs.filter((run) => run.id === waiting);
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(2_000 - clockError);
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(2_000 + 2 * 3_000);
  expect(later.requests).toHaveLength(2);
  for (const { id } of account.sent.filter(({ id: each }) => each !== cancelled))
    expect(await platform.calls.status(id)).toMatchObject({ state: "done" });
});
