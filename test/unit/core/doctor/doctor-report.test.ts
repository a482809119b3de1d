import { describe, expect, test } from "vitest";

import type { DoctorFacts, ExaminedBroker, ExaminedQueue } from "../../../../runtime/core/doctor/doctor-facts.ts";
import { doctorReport } from "../../../../runtime/core/doctor/doctor-report.ts";
import type { QueueDeclaration } from "../../../../runtime/core/ports/queue-catalog.ts";
import { sampleQueue } from "../../../contract/samples.ts";
import { examinedFunction } from "../../../support/examined-function.ts";

const broker: ExaminedBroker = {
  fault: undefined,
  version: "2.15.1",
  isTooOld: false,
  store: {
    value: {
      whole: { used: 0, limit: 1_000 },
      records: { used: 0, limit: 1_000 },
      recordBytes: { used: 0, limit: 1_000 },
      copies: { wanted: 3, current: 2 },
    },
  },
};

function examined(over: Partial<QueueDeclaration>, slots: number): ExaminedQueue {
  return {
    queue: sampleQueue(over),
    figures: { value: { state: undefined, workers: { slots, running: 0 }, deadLetters: 0 } },
  };
}

function report(over: Partial<DoctorFacts> = {}) {
  return doctorReport({
    now: Date.parse("2026-01-31T12:00:00.000Z"),
    node: "weir-1",
    release: "0.1.0",
    times: {
      upstreamTimeout: 30_000,
      timeoutMax: 3_600_000,
      wakeTimeout: 60_000,
      drainTimeout: 3_600_000,
      callMaxAge: 3_600_000,
    },
    durability: "interval",
    setAside: [],
    place: { edition: "enterprise", home: "machine" },
    broker,
    provider: { fault: undefined },
    queues: [],
    functions: [],
    disks: { value: [{ name: "data", directory: "/data", free: 900_000_000_000, total: 1_000_000_000_000 }] },
    ...over,
  });
}

const partsBetween = (queues: DoctorFacts["queues"]) => report({ queues }).parts.slice(1, -1);
const brokerPart = (over: Partial<ExaminedBroker>) => report({ broker: { ...broker, ...over } }).parts.at(-1);

test("a report says when its checks were made", () => {
  expect(report().checkedAt).toBe("2026-01-31T12:00:00.000Z");
});

describe("the parts of the platform", () => {
  test("are this gateway, the queue-workers of each queue, and the broker", () => {
    expect(report({ queues: [examined({ replicas: 2, maxInflight: 10 }, 20)] }).parts).toEqual([
      { part: "gateway", node: "weir-1", release: "0.1.0", replicas: 1, ready: 1 },
      { part: "queue-worker", replicas: 2, ready: 2 },
      { part: "broker", release: "2.15.1", replicas: 3, ready: 2 },
    ]);
  });

  test("name the queue of queue-workers that do not serve the default one", () => {
    expect(partsBetween([examined({}, 1), examined({ name: "slow" }, 1)]).map(({ part }) => part)).toEqual([
      "queue-worker",
      "queue-worker-slow",
    ]);
  });

  test.each([
    ["none has slots", 0, 0],
    ["one has some of its slots", 4, 1],
    ["one has all of its slots", 10, 1],
    ["the second one begins", 11, 2],
    ["there are more than declared", 50, 3],
  ])("count queue-workers by their slots, at most as many as are declared: %s", (_name, slots, ready) => {
    expect(partsBetween([examined({ replicas: 3, maxInflight: 10 }, slots)])).toEqual([
      { part: "queue-worker", replicas: 3, ready },
    ]);
  });

  test("have no ready queue-worker that nobody reported", () => {
    expect(partsBetween([{ queue: sampleQueue(), figures: { missing: "no reply" } }])).toEqual([
      { part: "queue-worker", replicas: 1, ready: 0 },
    ]);
  });

  test("have no queue-workers while no declarations are known", () => {
    expect(partsBetween(undefined)).toEqual([]);
  });

  test.each<[string, Partial<ExaminedBroker>, object]>([
    ["is full", { fault: "full" }, { part: "broker", release: "2.15.1", replicas: 3, ready: 0 }],
    ["says no version", { version: undefined }, { part: "broker", replicas: 3, ready: 2 }],
    [
      "is away",
      { fault: "away", version: undefined, store: { missing: "no reply" } },
      { part: "broker", replicas: 1, ready: 0 },
    ],
    [
      "does not say how full it is",
      { store: { missing: "no reply" } },
      { part: "broker", release: "2.15.1", replicas: 1, ready: 0 },
    ],
  ])("count the servers of a broker that work: one that %s", (_name, over, expected) => {
    expect(brokerPart(over)).toStrictEqual(expected);
  });
});

describe("the findings", () => {
  const findings = (over: Partial<DoctorFacts> = {}) => report(over).findings.map(({ id, level }) => `${id}: ${level}`);

  test("are at least one of each check, in order", () => {
    expect(findings({ functions: [examinedFunction()] })).toEqual([
      "timeouts: ok",
      "broker: ok",
      "store: ok",
      "store: ok",
      "durability: ok",
      "provider: ok",
      "dead-letters: ok",
      "disk: ok",
      "functions: ok",
    ]);
  });

  test("judge the functions by the timeouts of the declared queues", () => {
    const functions = [examinedFunction({ envVars: { exec_timeout: "4m" } })];
    expect(findings({ functions })).toContain("timeouts: ok");
    const queues = [examined({ timeout: 300_000 }, 1)];
    expect(findings({ functions, queues })).toContain("timeouts: warning");
  });

  test("say that no declarations of queues are known", () => {
    expect(findings({ queues: undefined })).toContain("queues: problem");
  });

  test("count the time of a start up to when the checks were made", () => {
    const functions = [examinedFunction({}, { endpoints: undefined })];
    expect(report({ functions, now: Date.parse("2026-01-31T12:00:40.000Z") }).findings.at(-1)).toMatchObject({
      level: "warning",
      sentence: "None of 1 replicas is ready, for 40s",
    });
  });
});
