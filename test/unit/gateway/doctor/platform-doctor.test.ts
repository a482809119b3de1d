import { describe, expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { QueueTable } from "../../../../runtime/core/queues/queue-table.ts";
import {
  buildPlatformDoctor,
  gatherFacts,
  type DoctorParts,
} from "../../../../runtime/gateway/doctor/platform-doctor.ts";
import { memoryBroker, memoryDoctorParts } from "../../../support/memory-doctor.ts";
import { memoryQueues } from "../../../support/memory-queues.ts";

const silent = (): Promise<never> => new Promise(() => {});

describe("a fact that does not come", () => {
  test("in time is missing, and the others are there", async () => {
    const facts = await gatherFacts(memoryDoctorParts({ broker: memoryBroker({ store: silent }) }), 1_300);
    expect(facts.broker.store).toEqual({ missing: "no reply within 1300 ms" });
    expect(facts.queues).toMatchObject([{ queue: { name: "default" }, figures: { value: { deadLetters: 0 } } }]);
  });

  test("because of an error is missing with its sentence", async () => {
    const store = () => Promise.reject(new PlatformError("queue_unavailable", "Cannot read the store: no"));
    const disks = { read: () => Promise.reject(new Error("ENOENT")) };
    const facts = await gatherFacts(memoryDoctorParts({ broker: memoryBroker({ store }), disks }));
    expect(facts.broker.store).toEqual({ missing: "Cannot read the store: no" });
    expect(facts.disks).toEqual({ missing: "ENOENT" });
  });

  test("is a finding, within 2 s, and the report is made once", async () => {
    let asked = 0;
    const store = (): Promise<never> => {
      asked += 1;
      return silent();
    };
    const queues = memoryQueues();
    const states = { ...queues.states, read: silent };
    const doctor = buildPlatformDoctor(
      memoryDoctorParts({ broker: memoryBroker({ store }), queues: { ...queues, states } }),
    );
    const [report, same] = await Promise.all([doctor.report(), doctor.report()]);
    expect(report).toBe(same);
    expect(await doctor.report()).toBe(report);
    expect(asked).toBe(1);
    const bad = report.findings.filter(({ level }) => level !== "ok").map(({ id, level }) => [id, level]);
    expect(bad).toEqual([
      ["broker", "problem"],
      ["queues", "warning"],
    ]);
  });
});

test("queues that are not declared yet are no empty list", async () => {
  const queues = { ...memoryQueues(), table: new QueueTable() };
  expect((await gatherFacts(memoryDoctorParts({ queues }))).queues).toBeUndefined();
});

test("the provider is asked anew for each report, and is no finding where it is not seen", async () => {
  let fault: string | undefined = "Cannot reach the container engine: it is away";
  const parts = memoryDoctorParts({ providerFault: () => fault });
  const levels = async (of: DoctorParts): Promise<readonly string[]> =>
    (await buildPlatformDoctor(of).report()).findings.flatMap(({ id, level }) => (id === "provider" ? [level] : []));
  expect(await levels(parts)).toEqual(["problem"]);
  fault = undefined;
  expect(await levels(parts)).toEqual(["ok"]);
  expect(await levels(memoryDoctorParts())).toEqual([]);
});

test("the parts are this gateway, the queue-workers of each queue and the broker", async () => {
  const { parts } = await buildPlatformDoctor(memoryDoctorParts()).report();
  expect(parts).toEqual([
    { part: "gateway", node: expect.stringMatching(/./), release: expect.stringMatching(/^\d/), replicas: 1, ready: 1 },
    { part: "queue-worker", replicas: 1, ready: 0 },
    { part: "broker", release: "2.15.1", replicas: 1, ready: 1 },
  ]);
});
