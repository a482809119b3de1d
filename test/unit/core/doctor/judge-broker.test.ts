import { describe, expect, test } from "vitest";

import type { ExaminedBroker } from "../../../../runtime/core/doctor/doctor-facts.ts";
import { judgeBroker } from "../../../../runtime/core/doctor/judge-broker.ts";
import { judgeDisks } from "../../../../runtime/core/doctor/judge-disks.ts";
import type { BrokerStore } from "../../../../runtime/core/ports/broker-view.ts";

const place = { edition: "enterprise", home: "machine" } as const;
const roomy: BrokerStore = {
  whole: { used: 0, limit: 1_000 },
  records: { used: 0, limit: 1_000 },
  recordBytes: { used: 0, limit: Number.POSITIVE_INFINITY },
  copies: { wanted: 1, current: 1 },
};

function judge(
  broker: Partial<ExaminedBroker> = {},
  { durability = "interval", home = "machine" }: { durability?: string; home?: "machine" | "cluster" } = {},
) {
  const whole = { fault: undefined, version: "2.15.1", isTooOld: false, store: { value: roomy }, ...broker };
  return judgeBroker({ broker: whole, durability, place: { ...place, home } });
}

const judgeStore = (store: Partial<BrokerStore>, options = {}) =>
  judge({ store: { value: { ...roomy, ...store } } }, options);

test("a broker that replies and has room is ok in every respect", () => {
  expect(judge().map(({ id, level }) => [id, level])).toEqual([
    ["broker", "ok"],
    ["store", "ok"],
    ["store", "ok"],
    ["durability", "ok"],
  ]);
});

describe("the broker", () => {
  test.each<[string, Partial<ExaminedBroker>, RegExp]>([
    ["away", { fault: "away", store: { missing: "x" } }, /^It does not reply: asynchronous calls are refused/],
    ["full", { fault: "full" }, /^It has no room: no call is accepted or ended/],
    ["silent", { store: { missing: "no reply within 1750 ms" } }, /\(no reply within 1750 ms\)$/],
    ["too old", { version: "2.9.0", isTooOld: true }, /^nats-server 2\.9\.0 is older/],
  ])("%s is a problem", (_name, broker, sentence) => {
    const [first] = judge(broker);
    expect(first).toMatchObject({ id: "broker", level: "problem", sentence: expect.stringMatching(sentence) });
    expect(first?.advice).not.toBe("");
  });

  test("that is away on a cluster is looked for there", () => {
    const [first] = judge({ fault: "away" }, { home: "cluster" });
    expect(first?.advice).toContain("StatefulSet nats");
  });

  test("of an unknown store has no findings of it", () => {
    expect(judge({ fault: "away", store: { missing: "x" } })).toHaveLength(1);
  });
});

describe("the store", () => {
  const levels = (store: Partial<BrokerStore>) =>
    judgeStore(store).flatMap(({ id, subject, level }) => (id === "store" ? [[subject, level]] : []));

  test.each([
    [749, "ok"],
    [750, "warning"],
    [899, "warning"],
    [900, "problem"],
  ])("as a whole with %i of 1000 bytes is %s: at 90 % calls are refused", (used, level) => {
    expect(levels({ whole: { used, limit: 1_000 } })[0]).toEqual(["store", level]);
  });

  test.each([
    [749, 749, "ok"],
    [750, 0, "warning"],
    [0, 750, "warning"],
    [0, 1_000, "problem"],
  ])("of records with %i of 1000 records and %i of 1000 bytes is %s, by the fuller one", (used, bytes, level) => {
    const found = levels({ records: { used, limit: 1_000 }, recordBytes: { used: bytes, limit: 1_000 } });
    expect(found[1]).toEqual(["call records", level]);
  });
});

describe("durability", () => {
  test.each([
    ["interval", { wanted: 1, current: 1 }, "ok"],
    ["always", { wanted: 1, current: 1 }, "ok"],
    ["cluster", { wanted: 3, current: 3 }, "ok"],
    ["cluster", { wanted: 3, current: 2 }, "problem"],
    ["cluster", { wanted: 1, current: 1 }, "problem"],
  ])("%s with copies %o is %s", (durability, copies, level) => {
    expect(judgeStore({ copies }, { durability }).at(-1)).toMatchObject({ id: "durability", level });
  });

  test("a server that is away is another advice than one that is missing", () => {
    const adviceOf = (copies: BrokerStore["copies"]) =>
      judgeStore({ copies }, { durability: "cluster" }).at(-1)?.advice;
    expect(adviceOf({ wanted: 3, current: 2 })).toMatch(/away or behind/);
    expect(adviceOf({ wanted: 1, current: 1 })).toMatch(/three servers/);
  });
});

describe("a disk", () => {
  const gibibyte = 1_073_741_824;
  test.each([
    [16 * gibibyte, 100 * gibibyte, "ok"],
    [14 * gibibyte, 100 * gibibyte, "problem"],
    [gibibyte - 1, 2 * gibibyte, "problem"],
  ])("with %i of %i bytes free is %s", (free, total, level) => {
    const found = judgeDisks({ value: [{ name: "data", directory: "/data", free, total }] });
    expect(found).toMatchObject([{ id: "disk", level, subject: "disk of data" }]);
  });

  test("that cannot be read is a warning; none is none", () => {
    expect(judgeDisks({ missing: "ENOENT" })).toMatchObject([
      { level: "warning", sentence: expect.stringContaining("ENOENT") },
    ]);
    expect(judgeDisks({ value: [] })).toEqual([]);
  });
});
