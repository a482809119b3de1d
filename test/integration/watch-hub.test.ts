import { describe, expect, test } from "vitest";

import { administrator, type Principal } from "../../runtime/core/access/principal.ts";
import { PlatformError } from "../../runtime/api/platform-error.ts";
import { apiVersion, release } from "../../runtime/api/version.ts";
import { WatchedCalls } from "../../runtime/gateway/watch/watched-calls.ts";
import { type Allowed } from "../support/fake-tokens.ts";
import { sampleQueue } from "../contract/samples.ts";
import { awayHistory, historyAway, numberedId, openRecord } from "../support/history-gateway.ts";
import { MemoryActivity } from "../support/memory/memory-activity.ts";
import { WatchedGateway, type WatchedStream } from "../support/watch/watched-gateway.ts";

/** What streams tell, with everything in memory and a clock that tests move. */
const deployment = (service: string, namespace = "functions") => ({ service, image: "acme/a:1", namespace });

async function deploy(opened: WatchedGateway, service: string, namespace?: string): Promise<void> {
  const status = await opened.gateway.platform.statusOf("PUT", "/system/functions", deployment(service, namespace));
  expect(status).toBe(202);
}

/** Holder of a token with these rights alone. */
async function holder(opened: WatchedGateway, ...allowed: readonly Allowed[]): Promise<Principal> {
  const { tokens } = opened.gateway;
  tokens.allow({ alice: allowed });
  const own = await tokens.parts.holders.read(tokens.give("alice").replace("Bearer ", ""));
  if (own === undefined) throw new Error("the token is valid");
  return tokens.parts.holders.holderOf(own);
}

const keysOf = (stream: WatchedStream): string[] =>
  stream.takeOf("functions").flatMap(({ rows }) => rows.map(([key]) => key));

test("the first event says who sends; comments keep a silent stream alive", async () => {
  await using opened = await WatchedGateway.open();
  const stream = await opened.watch("");
  expect(stream.take()).toEqual([
    { name: "hello", data: { release, apiVersion, time: expect.stringMatching(/^20.*Z$/) } },
  ]);
  await opened.pass(14);
  expect(stream.take()).toEqual([]);
  await opened.pass(1);
  expect(stream.take()).toEqual([{ name: undefined, data: undefined }]);
  await opened.pass(30);
  expect(stream.take()).toHaveLength(2);
});

test("nothing is computed while nobody reads", async () => {
  let looks = 0;
  const activity = new MemoryActivity();
  let followed = 0;
  const subscribe = activity.subscribe.bind(activity);
  activity.subscribe = (...given) => {
    followed += 1;
    const end = subscribe(...given);
    return () => {
      followed -= 1;
      end();
    };
  };
  const functions = () => {
    looks += 1;
    return [];
  };
  const elsewhere = new WatchedCalls(activity, "me");
  await using opened = await WatchedGateway.open(() => ({
    watched: { functions, here: { find: () => undefined }, elsewhere },
  }));
  await opened.pass(3);
  expect([looks, followed, opened.clock.timers]).toEqual([0, 0, 0]);
  const streams = [await opened.watch("functions"), await opened.watch("functions:dev"), await opened.watch("queues")];
  expect([looks, followed, opened.clock.timers]).toEqual([1, 1, 1]);
  await opened.pass(3);
  // Once a second, for all of them.
  expect(looks).toBe(4);
  for (const { sink } of streams.slice(0, 2)) sink.close();
  await opened.pass(3);
  expect([looks, followed]).toEqual([4, 0]);
  streams[2]?.sink.close();
  expect([opened.clock.timers, opened.hub.size]).toEqual([0, 0]);
});

describe("functions", () => {
  test("begin with the whole, then come changes", async () => {
    await using opened = await WatchedGateway.open();
    await deploy(opened, "hello");
    const stream = await opened.watch("functions");
    const [whole, ...others] = stream.takeOf("functions");
    expect([whole, others]).toEqual([
      {
        on: "functions",
        begin: true,
        more: false,
        rows: [["hello.functions", 1, 0, "starting", 0, 0, 0, expect.any(Number)]],
        removed: [],
      },
      [],
    ]);
    await opened.pass(2);
    expect(stream.take()).toEqual([]);
    const { platform } = opened.gateway;
    platform.publish({
      name: "hello",
      namespace: "functions",
      observedGeneration: 1,
      addresses: ["10.0.0.1:8080"],
      conditions: [],
    });
    await deploy(opened, "pay");
    await opened.pass(1);
    const since = expect.any(Number);
    expect(stream.takeOf("functions").map(({ begin, rows }) => [begin, rows])).toEqual([
      [
        false,
        [
          ["hello.functions", 1, 1, "ready", 0, 0, 0, since],
          ["pay.functions", 1, 0, "starting", 0, 0, 0, since],
        ],
      ],
    ]);
    expect(await platform.statusOf("DELETE", "/system/functions", { functionName: "hello" })).toBe(202);
    await opened.pass(1);
    expect(stream.takeOf("functions")).toMatchObject([{ rows: [], removed: ["hello.functions"] }]);
  });

  test("are those of a namespace, and those that a reader may list", async () => {
    await using opened = await WatchedGateway.open();
    const { platform } = opened.gateway;
    await platform.statusOf("POST", "/system/namespaces", { name: "dev", labels: { "com.service.namespace": "1" } });
    for (const [name, namespace] of [
      ["hello", "functions"],
      ["hello", "dev"],
      ["pay", "dev"],
    ] as const)
      await deploy(opened, name, namespace);
    const alice = await holder(opened, [["Function:List"], ["dev:pay"]]);
    const streams = [
      await opened.watch("functions"),
      await opened.watch("functions:dev"),
      await opened.watch("functions:openfaas-fn"),
      await opened.watch("functions:gone"),
      await opened.watch("functions", alice),
    ];
    expect(streams.map(keysOf)).toEqual([
      ["hello.functions", "hello.dev", "pay.dev"],
      ["hello.dev", "pay.dev"],
      ["hello.functions"],
      [],
      ["pay.dev"],
    ]);
    await deploy(opened, "late", "dev");
    await opened.pass(1);
    expect(streams.map(keysOf)).toEqual([["late.dev"], ["late.dev"], [], [], []]);
  });

  test("of 10 000 come in portions, and 500 a second when all of them change", async () => {
    let inFlight = 0;
    await using opened = await WatchedGateway.open();
    const { functions } = opened.gateway.platform;
    await deploy(opened, "f0");
    const [first] = functions.values();
    if (first === undefined) throw new Error("it was deployed");
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      ref: { name: `f${index}`, namespace: "functions" },
      key: `f${index}.functions`,
      wanted: first,
      endpoints: undefined,
    }));
    await using large = await WatchedGateway.open(() => ({
      watched: { functions: () => many, here: { find: () => ({ finished: 0, failed: 0, inFlight }) } },
    }));
    const stream = await large.watch("functions");
    const portions = stream.takeOf("functions");
    expect(portions.map(({ begin, more, rows }) => [begin, more, rows.length])).toEqual([
      [true, true, 500],
      ...Array.from({ length: 18 }, () => [false, true, 500]),
      [false, false, 500],
    ]);
    inFlight = 1;
    await large.pass(21);
    const changes = stream.takeOf("functions");
    expect(changes.map(({ rows }) => rows.length)).toEqual(Array.from({ length: 20 }, () => 500));
    expect(new Set(changes.flatMap(({ rows }) => rows.map(([key]) => key))).size).toBe(10_000);
  });
});

describe("one function", () => {
  test("is told when it changes, comes or goes", async () => {
    await using opened = await WatchedGateway.open();
    const stream = await opened.watch("function:functions:hello");
    expect(stream.takeOf("function")).toEqual([{ on: "function:functions:hello", status: null }]);
    await deploy(opened, "hello");
    await opened.pass(3);
    expect(stream.takeOf("function")).toMatchObject([{ status: { name: "hello", replicas: 1, availableReplicas: 0 } }]);
    await opened.gateway.platform.statusOf("DELETE", "/system/functions", { functionName: "hello" });
    await opened.pass(1);
    expect(stream.takeOf("function")).toMatchObject([{ status: null }]);
  });
});

describe("queues", () => {
  test("begin with all, then come those that changed", async () => {
    await using opened = await WatchedGateway.open();
    const { queueParts } = opened.gateway.platform.parts;
    queueParts.table.observer.set(sampleQueue({ name: "slow" }));
    const stream = await opened.watch("queues");
    expect(stream.takeOf("queues")).toMatchObject([
      { on: "queues", begin: true, queues: [{ name: "default" }, { name: "slow" }], removed: [] },
    ]);
    queueParts.table.observer.set(sampleQueue({ name: "slow", maxInflight: 9 }));
    await opened.pass(2);
    expect(stream.takeOf("queues")).toMatchObject([{ begin: false, queues: [{ name: "slow", maxInflight: 9 }] }]);
    queueParts.table.observer.removed("slow");
    await opened.pass(1);
    expect(stream.takeOf("queues")).toMatchObject([{ begin: false, queues: [], removed: ["slow"] }]);
  });
});

describe("calls", () => {
  const idsOf = (stream: WatchedStream): string[] =>
    stream.takeOf("calls").flatMap(({ calls }) => calls.map(({ callId, state }) => `${callId} ${state}`));

  test("begin with the newest 50, then come new ones and their changes", async () => {
    await using opened = await WatchedGateway.open();
    const { gateway } = opened;
    for (let number = 1; number <= 51; number += 1) await gateway.write(number);
    const stream = await opened.watch("calls");
    const [begin] = stream.takeOf("calls");
    expect([begin?.begin, begin?.calls.length, begin?.calls[0]?.callId]).toEqual([true, 50, numberedId(51)]);
    await gateway.write(52, openRecord);
    await opened.pass(2);
    expect(idsOf(stream)).toEqual([`${numberedId(52)} queued`]);
    await gateway.write(52);
    await opened.pass(2);
    expect(idsOf(stream)).toEqual([`${numberedId(52)} done`]);
  });

  test("are those of a filter, which says what it no longer matches", async () => {
    await using opened = await WatchedGateway.open();
    const { gateway } = opened;
    await gateway.write(1, openRecord);
    await gateway.write(2, { ...openRecord, state: "waiting" });
    await gateway.write(3);
    const on = `calls:${new URLSearchParams({ state: "queued,waiting" }).toString()}`;
    const stream = await opened.watch(on);
    expect(idsOf(stream)).toEqual([`${numberedId(2)} waiting`, `${numberedId(1)} queued`]);
    await gateway.write(2);
    await opened.pass(2);
    expect(stream.takeOf("calls")).toEqual([{ on, begin: false, calls: [], removed: [numberedId(2)], skipped: 0 }]);
  });

  test("are 50 a second at most; the others are counted", async () => {
    await using opened = await WatchedGateway.open();
    const { gateway } = opened;
    await gateway.write(1);
    const stream = await opened.watch("calls");
    stream.take();
    for (let number = 2; number <= 131; number += 1) await gateway.write(number);
    await opened.pass(0.25);
    const [event, ...others] = stream.takeOf("calls");
    expect([event?.calls.length, event?.skipped, others]).toEqual([50, 80, []]);
    // The next look is a second after one that told 50.
    await gateway.write(132);
    await opened.pass(0.75);
    expect(stream.take()).toEqual([]);
    await opened.pass(0.25);
    expect(idsOf(stream)).toEqual([`${numberedId(132)} done`]);
  });

  test("are those that a reader may list", async () => {
    await using opened = await WatchedGateway.open();
    const { gateway } = opened;
    await gateway.write(1, { namespace: "dev" });
    await gateway.write(2);
    const alice = await holder(opened, [["Call:List"], ["dev:*"]]);
    const stream = await opened.watch("calls", alice);
    expect(idsOf(stream)).toEqual([`${numberedId(1)} done`]);
  });

  test("that cannot be read are a fault, and begin again", async () => {
    let isAway = true;
    await using opened = await WatchedGateway.open(({ kept, platform: { parts } }) => ({
      history: parts.history && {
        ...parts.history,
        reads: {
          ...awayHistory.reads,
          list: (query) => (isAway ? awayHistory.reads.list(query) : kept.list(query)),
        },
      },
    }));
    await opened.gateway.write(1);
    const stream = await opened.watch("calls,queues");
    expect(stream.take()).toMatchObject([
      { name: "hello" },
      { name: "fault", data: { on: "calls", code: "history_unavailable", detail: historyAway.message } },
      { name: "queues", data: { begin: true } },
    ]);
    await opened.pass(3);
    expect(stream.takeOf("fault")).toEqual([]);
    isAway = false;
    await opened.pass(1);
    expect(stream.takeOf("calls")).toMatchObject([{ begin: true, calls: [{ callId: numberedId(1) }] }]);
  });

  test("of a platform without a history are a fault of this topic alone", async () => {
    await using opened = await WatchedGateway.open(() => ({ history: undefined }));
    const stream = await opened.watch("calls,doctor");
    expect(stream.take().map(({ name }) => name)).toEqual(["hello", "fault", "doctor"]);
  });
});

describe("one call", () => {
  const on = `call:${numberedId(1)}`;

  test("is told when it changes, and slower once it has ended", async () => {
    await using opened = await WatchedGateway.open();
    const { gateway } = opened;
    await gateway.write(1, openRecord);
    const stream = await opened.watch(on);
    expect(stream.takeOf("call")).toMatchObject([{ on, call: { callId: numberedId(1), state: "queued" } }]);
    gateway.progress = { ...gateway.progress, lagSeconds: 0.7 };
    await opened.pass(2);
    expect(stream.take()).toEqual([]);
    await gateway.write(1);
    await opened.pass(1);
    expect(stream.takeOf("call")).toMatchObject([{ call: { state: "done", actions: { cancel: expect.any(String) } } }]);
    await gateway.write(1, { redrives: 1, state: "queued", ended: null });
    await opened.pass(5);
    expect(stream.takeOf("call")).toMatchObject([{ call: { state: "queued", redrives: 1 } }]);
  });

  test("that is unknown, or that a reader may not see, is a fault until it is known", async () => {
    await using opened = await WatchedGateway.open();
    const alice = await holder(opened, [["Call:Get"], ["dev:*"]]);
    const [all, some] = [await opened.watch(on), await opened.watch(on, alice)];
    for (const stream of [all, some]) expect(stream.takeOf("fault")).toMatchObject([{ code: "call_not_found" }]);
    await opened.gateway.write(1);
    await opened.pass(2);
    expect([all.takeOf("call").length, some.take()]).toEqual([1, []]);
  });
});

describe("a log", () => {
  const line = (number: number) => ({
    name: "hello",
    namespace: "functions",
    instance: "hello-1",
    text: `line ${number}\n`,
    timestamp: "2026-01-31T12:00:00.123456789Z",
  });
  const textsOf = (stream: WatchedStream): string[] =>
    stream.takeOf("log").flatMap(({ records }) => records.map(({ text }) => text.trim()));

  test("begins with the last lines, goes on, and is read for its readers only", async () => {
    await using opened = await WatchedGateway.open();
    await deploy(opened, "hello");
    const { logs } = opened.gateway.platform;
    for (const number of [1, 2]) logs.add(line(number));
    const stream = await opened.watch("log:functions:hello");
    await opened.pass(1);
    expect(stream.takeOf("log")).toEqual([
      { on: "log:functions:hello", begin: true, records: [line(1), line(2)], skipped: 0 },
    ]);
    expect(logs.queries).toMatchObject([{ name: "hello", follow: true, tail: 50 }]);
    logs.add(line(3));
    await opened.settled();
    await opened.pass(1);
    expect(stream.takeOf("log")).toMatchObject([{ begin: false, records: [line(3)] }]);
    stream.sink.close();
    await opened.settled();
    expect(logs.readers).toBe(0);
  });

  test("without a line begins, too", async () => {
    await using opened = await WatchedGateway.open();
    await deploy(opened, "hello");
    const stream = await opened.watch("log:functions:hello");
    await opened.pass(1);
    expect(stream.takeOf("log")).toMatchObject([{ begin: true, records: [] }]);
  });

  test("has 200 lines a second at most; the others are counted", async () => {
    await using opened = await WatchedGateway.open();
    await deploy(opened, "hello");
    const stream = await opened.watch("log:functions:hello");
    await opened.pass(1);
    stream.take();
    for (let number = 0; number < 250; number += 1) opened.gateway.platform.logs.add(line(number));
    await opened.settled();
    await opened.pass(1);
    const events = stream.takeOf("log");
    expect(events.map(({ records, skipped }) => [records.length, skipped])).toEqual([[200, 50]]);
    opened.gateway.platform.logs.add(line(250));
    await opened.settled();
    await opened.pass(1);
    expect(textsOf(stream)).toEqual(["line 250"]);
  });

  test("of a function that comes, goes and comes again begins each time", async () => {
    await using opened = await WatchedGateway.open();
    const { platform } = opened.gateway;
    const stream = await opened.watch("log:functions:hello");
    await opened.pass(2);
    expect(stream.takeOf("log")).toEqual([]);
    for (let round = 0; round < 2; round += 1) {
      await deploy(opened, "hello");
      await opened.pass(7);
      expect(stream.takeOf("log")).toMatchObject([{ begin: true }]);
      expect(await platform.statusOf("DELETE", "/system/functions", { functionName: "hello" })).toBe(202);
      await opened.pass(1);
      expect(platform.logs.readers).toBe(0);
    }
  });

  test("that breaks is a fault, and is read again", async () => {
    await using opened = await WatchedGateway.open();
    await deploy(opened, "hello");
    const { logs } = opened.gateway.platform;
    logs.failure = new PlatformError("provider_unavailable", "Cannot read logs: the provider is away");
    const stream = await opened.watch("log:functions:hello");
    expect(stream.takeOf("fault")).toMatchObject([{ code: "provider_unavailable" }]);
    logs.failure = undefined;
    await opened.pass(7);
    expect(stream.takeOf("log")).toMatchObject([{ begin: true }]);
  });
});

test("the doctor's findings come when they change", async () => {
  let level: "ok" | "problem" = "ok";
  let reports = 0;
  await using opened = await WatchedGateway.open(() => ({
    doctor: {
      report: async () => ({
        checkedAt: new Date((reports += 1)).toISOString(),
        parts: [],
        findings: [{ id: "disk", level, subject: "disk", sentence: "It has room" }],
      }),
    },
  }));
  const stream = await opened.watch("doctor");
  expect(stream.takeOf("doctor")).toMatchObject([{ on: "doctor", report: { findings: [{ level: "ok" }] } }]);
  await opened.pass(20);
  expect([stream.takeOf("doctor"), reports]).toEqual([[], 3]);
  level = "problem";
  await opened.pass(10);
  expect(stream.takeOf("doctor")).toMatchObject([{ report: { findings: [{ level: "problem" }] } }]);
});

describe("a stream ends", () => {
  const byeOf = (stream: WatchedStream) => stream.takeOf("bye").map(({ reason }) => reason);

  test("when its sender may not go on", async () => {
    await using opened = await WatchedGateway.open();
    const stream = await opened.watch("queues", administrator("session"));
    const other = await opened.watch("queues", administrator("session"));
    stream.next = new PlatformError("credentials_invalid", "Cannot answer this request: its session is over");
    await opened.pass(1);
    expect([byeOf(stream), stream.sink.closed, byeOf(other), opened.hub.size]).toEqual([["session"], true, [], 1]);
  });

  test("or has lost the right to each of its topics", async () => {
    await using opened = await WatchedGateway.open();
    const rights = ["Queue:List", "Function:List"];
    const alice = await holder(opened, [rights, ["*"]]);
    const streams = [await opened.watch("queues", alice), await opened.watch("functions", alice)];
    const less = await holder(opened, [rights.filter((right) => right !== "Queue:List"), ["*"]]);
    for (const stream of streams) stream.next = less;
    await opened.pass(15);
    expect(streams.map(byeOf)).toEqual([["session"], []]);
    const nothing = await holder(opened, [["Function:Get"], ["*"]]);
    for (const stream of streams) stream.next = nothing;
    await opened.pass(15);
    expect(byeOf(streams[1] as WatchedStream)).toEqual(["session"]);
  });

  test("while one that may not be read any more leaves the others", async () => {
    await using opened = await WatchedGateway.open();
    const stream = await opened.watch(
      "queues,functions",
      await holder(opened, [["Queue:List", "Function:List"], ["*"]]),
    );
    stream.take();
    stream.next = await holder(opened, [["Function:List"], ["*"]]);
    await opened.pass(15);
    const again = stream.take().filter(({ name }) => name === "fault" || name === "functions" || name === "bye");
    expect(again.map(({ name }) => name)).toEqual(["fault", "functions"]);
  });

  test("while other rights begin its topics anew", async () => {
    await using opened = await WatchedGateway.open();
    const { platform } = opened.gateway;
    await platform.statusOf("POST", "/system/namespaces", { name: "dev", labels: { "com.service.namespace": "1" } });
    await deploy(opened, "hello");
    await deploy(opened, "pay", "dev");
    const stream = await opened.watch("functions", await holder(opened, [["Function:List"], ["*"]]));
    expect(keysOf(stream)).toEqual(["hello.functions", "pay.dev"]);
    stream.next = await holder(opened, [["Function:List"], ["dev:*"]]);
    await opened.pass(15);
    const [again, ...others] = stream.takeOf("functions");
    expect([again?.begin, again?.rows.map(([key]) => key), others]).toEqual([true, ["pay.dev"], []]);
    await deploy(opened, "late");
    await opened.pass(1);
    expect(keysOf(stream)).toEqual([]);
  });

  test("when the gateway stops, and none begins then", async () => {
    await using opened = await WatchedGateway.open();
    const stream = await opened.watch("functions,queues");
    opened.hub.close();
    expect([byeOf(stream), stream.sink.closed, opened.clock.timers]).toEqual([["draining"], true, 0]);
    const late = await opened.watch("functions");
    expect(late.take().map(({ name }) => name)).toEqual(["hello", "bye"]);
    expect([late.sink.closed, opened.hub.size]).toEqual([true, 0]);
  });

  test("when it is not read, which keeps nobody else waiting", async () => {
    await using opened = await WatchedGateway.open();
    await deploy(opened, "hello");
    const { logs } = opened.gateway.platform;
    const [slow, quick] = [await opened.watch("log:functions:hello"), await opened.watch("log:functions:hello")];
    slow.sink.isRead = false;
    const text = `${"x".repeat(9_999)}\n`;
    const record = { name: "hello", namespace: "functions", instance: "a", text, timestamp: "2026-01-31T12:00:00Z" };
    for (let second = 0; second < 12; second += 1) {
      for (let count = 0; count < 10; count += 1) logs.add(record);
      await opened.settled();
      await opened.pass(1);
    }
    expect([byeOf(slow), slow.sink.writableEnded, opened.hub.size]).toEqual([["slow"], true, 1]);
    expect(quick.takeOf("log").flatMap(({ records }) => records)).toHaveLength(120);
    expect(logs.readers).toBe(1);
  });
});
