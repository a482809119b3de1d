import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";

/** Promised 50 ms; other tests share the machine. */
const knownTime = 150;
const unknownTime = 3_000;
const slack = 300;

let platform: Platform;
let echo: FunctionServer;

beforeAll(async () => {
  platform = await openPlatform({ ackWait: 4_000 });
  echo = await openFunctionServer();
  await platform.deploy("echo", { addresses: [echo.address] });
});

afterAll(async () => {
  await platform.close();
  await echo.close();
});

const json = { accept: "application/json" };
const runsOf = (id: string) => echo.requests.filter((request) => request.headers["x-call-id"] === id).length;

test("broker down: 503 within 3 s, at once when it is known; synchronous calls go on; all reconnect by themselves", async () => {
  const kept = await platform.calls.accepted("echo", { body: "kept" });
  await platform.calls.ended(kept);
  const pids = [platform.doctor, platform.gateway, platform.worker].map(({ pid }) => pid);
  await platform.server.kill();

  const id = randomUUID();
  const first = await platform.calls.queue("echo", { id, headers: json });
  expect(first.status).toBe(503);
  expect(first.took).toBeLessThan(unknownTime + slack);
  expect(JSON.parse(first.body.toString())).toMatchObject({ code: "queue_unavailable", callId: id });
  expect(["no", "unknown"]).toContain(first.headers.get("x-call-queued"));
  expect(first.headers.get("x-call-id")).toBe(id);
  expect(Number(first.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);

  await eventually(async () => (await platform.calls.queue("echo")).took < knownTime, {
    within: 3_000,
    what: "a quick refusal",
  });
  for (let round = 0; round < 20; round += 1) {
    const refused = await platform.calls.queue("echo", { headers: json });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("x-call-queued")).toBe("no");
    expect(refused.took).toBeLessThan(knownTime);
  }
  const sync = await platform.calls.send("POST", "/function/echo", { body: "sync" });
  expect([sync.status, sync.body.toString()]).toEqual([200, "ok"]);
  expect((await platform.calls.send("GET", `/async-function/${kept}`)).status).toBe(503);
  expect((await platform.calls.cancel(kept)).status).toBe(503);
  expect(await platform.probe(platform.gateway, "/readyz")).toBe(503);
  expect(await platform.probe(platform.worker, "/readyz")).toBe(503);
  expect(await platform.probe(platform.gateway, "/livez")).toBe(200);

  await platform.server.restart();
  const back = performance.now();
  const accepted = await eventually(
    async () => {
      const answer = await platform.calls.queue("echo");
      return answer.status === 202 ? answer : undefined;
    },
    { within: 5_000, what: "the first accepted call" },
  );
  expect(performance.now() - back).toBeLessThan(5_000);
  expect((await platform.calls.ended(accepted.headers.get("x-call-id") ?? "")).state).toBe("done");
  expect(await platform.calls.status(kept)).toMatchObject({ state: "done" });
  expect((await platform.calls.result(kept)).status).toBe(200);
  await eventually(async () => (await platform.probe(platform.gateway, "/readyz")) === 200, {
    within: 3_000,
    what: "the gateway to be ready",
  });
  expect([platform.doctor, platform.gateway, platform.worker].map(({ pid }) => pid)).toEqual(pids);

  expect((await platform.calls.queue("echo", { id, headers: json })).status).toBe(202);
  expect((await platform.calls.ended(id)).state).toBe("done");
  expect(runsOf(id)).toBe(1);
});

test("broker stopped in its tracks: 503 unknown within 3 s, and the same id sent again runs once", async () => {
  platform.server.pause();
  const sent = Array.from({ length: 10 }, (_, index) => ({ id: randomUUID(), body: String(index) }));
  const answers = await Promise.all(sent.map((call) => platform.calls.queue("echo", { ...call, headers: json })));
  for (const [index, answer] of answers.entries()) {
    expect(answer.status).toBe(503);
    expect(answer.took).toBeLessThan(unknownTime + slack);
    expect(answer.headers.get("x-call-queued")).toBe("unknown");
    expect(answer.headers.get("x-call-id")).toBe(sent[index]?.id);
  }
  platform.server.resume();

  for (const call of sent) {
    const again = await eventually(
      async () => {
        const answer = await platform.calls.queue("echo", { ...call, headers: json });
        return answer.status === 202 ? answer : undefined;
      },
      { within: 5_000, what: "the call to be accepted" },
    );
    expect(again.headers.get("x-call-id")).toBe(call.id);
  }
  for (const { id } of sent) expect((await platform.calls.ended(id)).state).toBe("done");
  await eventually(async () => (await platform.broker.calls()).messages === 0, {
    within: 8_000,
    what: "the queue to be empty",
  });
  for (const { id } of sent) expect(runsOf(id)).toBe(1);
});

test("a full queue: 429 no, the refused leave no record, and room makes it go on", async () => {
  const small = await openPlatform({ maxLength: 5 });
  let answers: (() => void)[] = [];
  const held = await openFunctionServer((_request, response) => void answers.push(() => response.end()));
  try {
    await small.deploy("held", { addresses: [held.address] });
    const taken = await Promise.all(Array.from({ length: 5 }, () => small.calls.accepted("held")));
    const id = randomUUID();
    const full = await small.calls.queue("held", { id, headers: json });

    expect(full.status).toBe(429);
    expect(JSON.parse(full.body.toString())).toMatchObject({ code: "queue_full", callId: id });
    expect(full.headers.get("x-call-queued")).toBe("no");
    expect(Number(full.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await eventually(async () => (await small.calls.send("GET", `/async-function/${id}`)).status === 404, {
      within: 2_000,
      what: "the record to go",
    });

    const release = setInterval(() => {
      for (const answer of answers) answer();
      answers = [];
    }, 10);
    for (const each of taken) expect((await small.calls.ended(each)).state).toBe("done");
    await eventually(async () => (await small.broker.calls()).messages === 0, { within: 3_000, what: "room" });
    expect((await small.calls.queue("held", { id })).status).toBe(202);
    expect((await small.calls.ended(id)).state).toBe("done");
    clearInterval(release);
  } finally {
    await small.close();
    await held.close();
  }
});
