import { describe, expect, test } from "vitest";

import type { ExaminedBroker } from "../../../../runtime/core/doctor/doctor-facts.ts";
import { judgeBroker } from "../../../../runtime/core/doctor/judge-broker.ts";
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
  return judgeBroker({ broker: whole, durability, place: { ...place, home }, setAside: [] });
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

describe("each sentence and each piece of advice", () => {
  const said = (found: ReturnType<typeof judge>, at: number) => {
    const { level, sentence, advice } = found.at(at) ?? {};
    return [level, sentence, advice];
  };

  test.each([
    ["away", "machine", "look at the log of Weir, which starts it"],
    ["away", "cluster", "look at the pods of StatefulSet nats, or at the address nats_url"],
    ["full", "machine", "make room on the disk of the data directory"],
    ["full", "cluster", "enlarge the volumes of StatefulSet nats"],
  ] as const)("of a broker that is %s on a %s", (fault, home, advice) => {
    expect(judge({ fault }, { home })[0]?.advice).toBe(advice);
  });

  test("of a broker that is silent, too old or well", () => {
    expect(said(judge({ store: { missing: "no reply" } }), 0)).toEqual([
      "problem",
      "It does not say how full it is (no reply)",
      "look at its log, and at the load of its machine",
    ]);
    expect(said(judge({ version: "2.9.0", isTooOld: true }), 0)).toEqual([
      "problem",
      "nats-server 2.9.0 is older than the queue needs",
      "install the version that comes with this release",
    ]);
    expect(said(judge(), 0)).toEqual(["ok", "nats-server 2.15.1 replies and stores", undefined]);
    expect(said(judge({ version: undefined }), 0)[1]).toBe("nats-server  replies and stores");
    expect(said(judge({ version: undefined, isTooOld: true }), 0)[1]).toBe(
      "nats-server  is older than the queue needs",
    );
  });

  test.each([
    [
      "machine",
      "make room on the disk of the data directory and start Weir again, or let the queues run empty",
    ] as const,
    ["cluster", "enlarge the volumes and nats.storage of the stack, or let the queues run empty"] as const,
  ])("of a store on a %s that fills up", (home, advice) => {
    const of = (used: number) => said(judgeStore({ whole: { used, limit: 1_000 } }, { home }), 1);
    expect(of(123)).toEqual(["ok", "12 % of its room is used", undefined]);
    expect(of(800)).toEqual(["warning", "80 % of its room is used; from 90 % on new calls are refused", advice]);
    expect(of(950)).toEqual(["problem", "95 % of its room is used; new calls are refused", advice]);
  });

  test("of call records, by the fuller of number and bytes", () => {
    const of = (records: number, bytes: number) =>
      said(judgeStore({ records: { used: records, limit: 100 }, recordBytes: { used: bytes, limit: 100 } }), 2);
    const advice = "raise max_call_records, or lower call_record_ttl and result.ttl of functions";
    expect(of(80, 10)).toEqual(["warning", "80 % of its room is used; from 100 % on new calls are refused", advice]);
    expect(of(10, 100)).toEqual(["problem", "100 % of its room is used; new calls are refused", advice]);
  });

  test("of durability", () => {
    const of = (durability: string, copies: BrokerStore["copies"] = { wanted: 3, current: 3 }) =>
      said(judgeStore({ copies }, { durability }), -1);
    expect(of("interval")).toEqual([
      "ok",
      '"interval": a crash of the operating system can lose about the last second of calls',
      undefined,
    ]);
    expect(of("always")).toEqual(["ok", '"always": a call that was accepted is on the disk', undefined]);
    expect(of("cluster")).toEqual(["ok", '"cluster": three servers have every call that was accepted', undefined]);
    expect(of("other")).toEqual(["ok", '"other" is asked for', undefined]);
    expect(of("cluster", { wanted: 3, current: 1 })).toEqual([
      "problem",
      '"cluster" promises 3 copies of every call, and there is 1',
      "look at the servers of the broker: one is away or behind",
    ]);
    expect(of("cluster", { wanted: 1, current: 2 })).toEqual([
      "problem",
      '"cluster" promises 3 copies of every call, and there are 2',
      "give the broker three servers, or ask for less",
    ]);
  });
});
