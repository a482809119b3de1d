import { randomUUID } from "node:crypto";

import { headers as newHeaders } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import type { CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";

/** Of a record whose call is not over: `call_max_age` and a day, seconds. */
const openTtl = 8 * 86_400;
/** `call_record_ttl` of the fast profile, seconds. */
const recordTtl = 300;

let bench: FaultBench;
let platform: Platform;
let sink: CallbackSink;
let held: FunctionServer;
let pending: (() => void)[] = [];
const release = (): void => {
  for (const reply of pending) reply();
  pending = [];
};

beforeAll(async () => {
  bench = await openFaultBench();
  ({ platform, sink } = bench);
  held = await bench.open("held", (_request, response) => void pending.push(() => response.end("held")));
});

afterAll(() => bench?.close());

const started = (id: string) =>
  eventually(() => held.requests.some((request) => request.headers["x-call-id"] === id), {
    every: 5,
    what: `the run of ${id}`,
  });
const ttlBecomes = (id: string, seconds: number) =>
  eventually(async () => (await platform.broker.recordTtl(id)) === seconds, {
    what: `a time to live of ${seconds} s`,
  });

describe("how long records live", () => {
  test("long while the call does, then as long as its result", async () => {
    const running = await platform.calls.accepted("held");
    await started(running);
    const queued = await platform.calls.accepted("held");
    expect(await platform.broker.recordTtl(running)).toBe(openTtl);
    expect(await platform.broker.recordTtl(queued)).toBe(openTtl);

    release();
    await started(queued);
    release();
    await platform.calls.ended(queued);
    await ttlBecomes(running, 3_600);
    await ttlBecomes(queued, 3_600);
    const record = await platform.calls.status(queued);
    expect(Date.parse(record?.result?.expiresAt ?? "") - Date.parse(record?.endedAt ?? "")).toBe(3_600_000);
  });

  test.each([
    ["0", recordTtl],
    ["10m", 600],
    ["1m", recordTtl],
  ])("with result.ttl %s an ended one lives %i s", async (resultTtl, seconds) => {
    await platform.deploy("held-shortly", {
      addresses: [held.address],
      annotations: { "com.service.result.ttl": resultTtl },
    });
    const id = await platform.calls.accepted("held-shortly");
    await started(id);
    release();
    await platform.calls.ended(id);

    await ttlBecomes(id, seconds);
  });

  test("long until the callback is sent", async () => {
    sink.answerAlways({ kind: "status", status: 500 });
    const id = await platform.calls.accepted("held", { callbackUrl: sink.url });
    await started(id);
    release();
    await platform.calls.ended(id);
    await sink.waitFor(id);
    expect(await platform.broker.recordTtl(id)).toBe(openTtl);

    sink.answerAlways({ kind: "status", status: 200 });
    await ttlBecomes(id, 3_600);
    expect(await platform.calls.status(id)).toMatchObject({ callback: { state: "sent" } });
  });

  test("of a cancelled one until its message is gone", async () => {
    const running = await platform.calls.accepted("held");
    await started(running);
    const cancelled = await platform.calls.accepted("held");
    await platform.calls.cancel(cancelled);
    expect(await platform.broker.recordTtl(cancelled)).toBe(openTtl);

    release();
    await ttlBecomes(cancelled, recordTtl);
    expect((await platform.calls.status(cancelled))?.state).toBe("cancelled");
  });
});

describe("FW14 a message that nobody can read", () => {
  test("becomes a dead letter, ends its record, and stops nothing", async () => {
    const { pid } = platform.worker;
    const gateway = await NatsLink.open({
      ...platform.server.access(natsUser.gateway),
      name: "test",
      pingInterval: 1_000,
    });
    const id = randomUUID();
    const letters = await platform.broker.deadLetters();
    const forms: Record<string, string>[] = [
      {},
      { "Weir-Version": "99", "Weir-Call": id },
      { "Weir-Version": "1", "Weir-Call": "no id" },
      {
        "Weir-Version": "1",
        "Weir-Call": randomUUID(),
        "Weir-Function": "held",
        "Weir-Namespace": "functions",
        "Weir-Start": "1",
        "Weir-Depth": "0",
        "Weir-Method": "POST",
        "Weir-Path": "/",
        "Weir-Headers": "{broken",
      },
    ];
    for (const form of forms) {
      const headers = newHeaders();
      for (const [name, value] of Object.entries(form)) headers.set(name, value);
      await gateway.nc.request("q.default.functions.held", "garbage", { headers, timeout: 2_000 });
    }
    await gateway.close();

    await eventually(async () => (await platform.broker.deadLetters()) === letters + forms.length, {
      what: "one dead letter each",
    });
    const letter = await platform.broker.deadLetter(id);
    expect(letter?.headers.get("Weir-Dead-Reason")).toBe("undecodable");
    expect(Buffer.from(letter?.body ?? []).toString()).toBe("garbage");
    const next = await platform.calls.accepted("held");
    await started(next);
    release();
    expect((await platform.calls.ended(next)).state).toBe("done");
    // The record is written before the broker gets its acknowledgement.
    await expect.poll(async () => (await platform.broker.calls()).messages).toBe(0);
    expect(platform.worker.pid).toBe(pid);
  });

  test("among the callbacks becomes a dead letter too, and its record says that there will be none", async () => {
    const hanging = await openFunctionServer(() => undefined);
    const id = await platform.calls.accepted("held", { callbackUrl: `http://${hanging.address}/` });
    await started(id);
    release();
    await eventually(() => hanging.requests.length > 0, { what: "the callback" });
    const gateway = await NatsLink.open({
      ...platform.server.access(natsUser.gateway),
      name: "test",
      pingInterval: 1_000,
    });
    const headers = newHeaders();
    headers.set("Weir-Call", id);
    await gateway.nc.request("cb.default.functions.held", "", { headers, timeout: 2_000 });
    await gateway.close();

    const letter = await eventually(() => platform.broker.deadLetter(id, "callback"), {
      what: "the dead letter",
    });
    expect(letter.headers.get("Weir-Dead-Reason")).toBe("undecodable");
    await eventually(async () => (await platform.calls.status(id))?.callback?.state === "failed", {
      what: "the callback to be failed",
    });
    await hanging.close();
  });
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle({ callbacksDue: false });
  expect(violations).toEqual([]);
});
