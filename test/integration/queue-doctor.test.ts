import { afterEach, expect, test } from "vitest";

import { clockError } from "../support/clock-error.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { readinessOf } from "../support/platform-admin.ts";
import { platformProcess } from "../support/platform-process.ts";

const rebuilds = "queue_doctor_rebuilds_total";

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("FB10 queues repaired under load three times: 0 lost, 0 extra runs, delays kept", async () => {
  const { platform, ...opened } = (bench = await openFaultBench({
    workers: 2,
    slots: 8,
    doctorFlags: ["--repair-cooldown", "100ms"],
  }));
  const retries = await opened.open("later", (request, response) =>
    response.writeHead(request.headers["x-call-attempt"] === "1" ? 503 : 200, { "Retry-After": "6" }).end(),
  );
  const stop = new AbortController();
  const body = (sequence: number): string => (sequence % 10 === 0 ? "1000" : "15");
  const load = opened.load({ rate: 40, count: 10_000, body, signal: stop.signal });
  const later = await Promise.all(Array.from({ length: 20 }, () => platform.calls.accepted("later")));
  for (let round = 1; round <= 3; round += 1) {
    await platform.broker.makeForeign();
    await eventually(
      async () =>
        (await platform.metric(platform.doctor, rebuilds, { queue_name: "default", reason: "broker-changed" })) >=
        round,
      { what: `repair number ${round}` },
    );
  }
  stop.abort();
  await load;
  const { account, counts, violations } = await opened.settle();
  expect(violations, JSON.stringify(counts)).toEqual([]);
  expect(retries.requests).toHaveLength(2 * later.length);
  for (const id of later) {
    const [first, second] = account.runs.filter((run) => run.id === id);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(6_000 - clockError);
  }
});

test("FB9 a stream deleted: 503 at once, alarm with what was lost, recreated on request only", async () => {
  const { platform } = (bench = await openFaultBench());
  await platform.worker.stop();
  for (let call = 0; call < 7; call += 1) await platform.calls.accepted("working", { body: "15" });
  await platform.broker.deleteQueue();

  const refused = await platform.calls.queue("working", { headers: { accept: "application/json" } });
  expect([refused.status, refused.headers.get("x-call-queued")]).toEqual([503, "no"]);
  const alarm = await eventually(
    async () => {
      const text = await readinessOf(platform.doctor);
      return text.includes("7 calls") ? text : undefined;
    },
    { what: "the alarm" },
  );
  expect(alarm).toContain('the store of "default" is missing, and with it 7 calls that waited');
  // The log line may arrive later than what the port says.
  await eventually(() => platform.doctor.log.some(({ reason }) => String(reason).includes("7 calls")), {
    what: "the alarm in the log",
  });

  // A restart of the doctor does not hide the loss behind an empty stream either.
  await platform.doctor.stop();
  await platform.doctor.start();
  await eventually(async () => (await readinessOf(platform.doctor)).includes("missing"), {
    what: "the alarm again",
  });
  expect((await platform.calls.queue("working")).status).toBe(503);

  const command = platformProcess({
    name: "recreate",
    main: "runtime/queue-doctor/main.ts",
    flags: () => [...platform.doctorFlags, "--recreate", "default"],
    readyMessage: "recreated, empty",
  });
  await command.run();
  await eventually(async () => (await readinessOf(platform.doctor)) === "ok\n", { what: "no alarm" });
  await platform.worker.start();
  const id = await platform.calls.accepted("working", { body: "15" });
  expect((await platform.calls.ended(id)).state).toBe("done");
});
