import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { queueDesk, type QueueDesk } from "../support/queue-desk.ts";

let platform: Platform;
let desk: QueueDesk;
let sink: CallbackSink;
let server: FunctionServer;
/** The status with which the function replies now. */
let status = 500;

beforeAll(async () => {
  platform = await openPlatform({ slots: 8, retryAttempts: 1 });
  desk = queueDesk(platform);
  sink = await openCallbackSink();
  server = await openFunctionServer((_request, response, body) => {
    response.writeHead(status, { "X-Own": "header" }).end(`${status} ${body}`);
  });
  await platform.deploy("shaky", { addresses: [server.address] });
});
afterAll(async () => {
  await platform?.close();
  await sink?.close();
  await server?.close();
});
beforeEach(() => {
  status = 500;
  sink.answerAlways({ kind: "status", status: 200 });
});

const secret = "s3cret-value";
/** The id of a call that was given up and has its dead letter. */
async function dead(options: { readonly callbackUrl?: string; readonly id?: string } = {}): Promise<string> {
  const id = await platform.calls.accepted("shaky", {
    ...options,
    tail: `/path?token=${secret}`,
    headers: { "X-Token": secret, traceparent: `00-${trace}-b7ad6b7169203331-01` },
    body: secret,
  });
  expect(await platform.calls.ended(id)).toMatchObject({ state: "failed", reason: "exhausted" });
  await eventually(() => platform.broker.deadLetter(id), { what: "the dead letter" });
  return id;
}
const runsOf = (id: string) => server.requests.filter((request) => request.headers["x-call-id"] === id);
const trace = "0af7651916cd43dd8448eb211c80319c";
const deadLetterOf = async (id: string) => (await desk.letters()).items.find(({ callId }) => callId === id);
const noLetter = (id: string) =>
  eventually(async () => (await deadLetterOf(id)) === undefined, { what: "the letter to be gone" });

describe("a call that was given up", () => {
  test("is listed with advice, without its values, and stays until it is deleted", async () => {
    const id = await dead({ callbackUrl: `${sink.url}?key=${secret}` });
    const response = await desk.send("GET", "/system/queue/default/dead-letters");
    expect(response.status).toBe(200);
    expect(response.body.toString()).not.toContain(secret);
    expect(await deadLetterOf(id)).toEqual({
      callId: id,
      functionName: "shaky",
      namespace: "functions",
      reason: "exhausted",
      attempts: 2,
      lastStatus: 500,
      acceptedAt: expect.stringMatching(/^20.*Z$/),
      deadAt: expect.stringMatching(/^20.*Z$/),
      size: secret.length,
      advice: expect.stringContaining('fix function "shaky", then redrive'),
    });
    expect((await desk.status()).deadLetters).toBeGreaterThan(0);
    const [line] = platform.worker.log.filter(({ callId, msg }) => callId === id && msg === "call was given up");
    expect(line).toMatchObject({ functionName: expect.stringContaining("shaky"), traceId: trace, reason: "exhausted" });
    expect((await desk.remove(id)).status).toBe(202);
    expect(await deadLetterOf(id)).toBeUndefined();
    expect((await desk.remove(id)).status).toBe(404);
    expect(await platform.calls.status(id)).toMatchObject({ state: "failed" });
  });

  test("is redriven: the same call with further attempts and a further callback", async () => {
    const id = await dead({ callbackUrl: sink.url });
    const before = await platform.calls.status(id);
    await sink.waitFor(id);
    status = 200;
    expect((await desk.redrive(id)).status).toBe(202);

    const record = await platform.calls.ended(id);
    expect(record).toMatchObject({ state: "done", retries: 0, startTime: before?.startTime });
    expect((await platform.calls.result(id)).body.toString()).toBe(`200 ${secret}`);
    const runs = runsOf(id);
    expect(runs.map(({ headers }) => headers["x-call-attempt"])).toEqual(["1", "2", "3"]);
    expect(
      new Set(runs.map(({ target, body, headers }) => [target, body, headers["x-start-time"]].join(" "))).size,
    ).toBe(1);
    await eventually(() => sink.of(id).length === 2, { what: "the second callback" });
    expect(sink.of(id).map(({ headers }) => headers["x-function-status"])).toEqual(["500", "200"]);
    expect(await deadLetterOf(id)).toBeUndefined();
    expect((await desk.redrive(id)).status).toBe(404);
  });

  test("that fails again is a dead letter again, and can be redriven again", async () => {
    const id = await dead();
    expect((await desk.redrive(id)).status).toBe(202);
    await eventually(async () => (await deadLetterOf(id))?.attempts === 4, { what: "the letter again" });
    status = 200;
    expect((await desk.redrive(id)).status).toBe(202);
    expect(await platform.calls.ended(id)).toMatchObject({ state: "done" });
    expect(runsOf(id)).toHaveLength(5);
    await noLetter(id);
  });

  test("whose record is gone can be redriven", async () => {
    const id = await dead();
    // The worker may still write that nothing is pending; to withdraw an outdated revision does nothing.
    await eventually(
      async () => {
        const found = await platform.broker.ledger.read(id);
        if (found !== undefined) await platform.broker.ledger.withdraw(id, found.revision);
        return (await platform.calls.status(id)) === undefined;
      },
      { what: "the record to be gone" },
    );
    status = 200;
    expect((await desk.redrive(id)).status).toBe(202);
    expect(await platform.calls.ended(id)).toMatchObject({ state: "done", attempts: [{ number: 3 }] });
  });

  test("redriven by many at once runs once; deleted at the same time it runs once or not at all", async () => {
    status = 500;
    const ids = await Promise.all(Array.from({ length: 6 }, () => dead()));
    status = 200;
    for (const [index, id] of ids.entries()) {
      const acts = [desk.redrive(id), desk.redrive(id), desk.redrive(id)];
      if (index % 2 === 1) acts.push(desk.remove(id));
      const responses = await Promise.all(acts);
      for (const response of responses) expect([202, 404, 409]).toContain(response.status);
      if (index % 2 === 0) expect(responses.map((response) => response.status)).toContain(202);
      const record = await platform.calls.status(id);
      if (record?.state !== "failed") await platform.calls.ended(id);
    }
    await eventually(
      async () => {
        const { messages, unanswered } = await platform.broker.calls();
        return messages === 0 && unanswered === 0;
      },
      { what: "the queue to be empty" },
    );
    for (const [index, id] of ids.entries()) {
      const runs = runsOf(id).length;
      if (index % 2 === 0) expect(runs).toBe(3);
      else expect([2, 3]).toContain(runs);
      expect(await deadLetterOf(id)).toBeUndefined();
    }
  });

  test("cannot be redriven without its function: the error says what to do, and the letter stays", async () => {
    await platform.deploy("leaving", { addresses: [server.address] });
    const id = await platform.calls.accepted("leaving");
    await platform.calls.ended(id);
    await eventually(() => deadLetterOf(id), { what: "the letter" });
    await platform.undeploy("leaving");
    const refused = await desk.redrive(id);
    expect([refused.status, refused.body.toString()]).toEqual([
      409,
      `Cannot redrive call "${id}": function "leaving.functions" does not exist; deploy it and redrive then\n`,
    ]);
    expect(await platform.calls.status(id)).toMatchObject({ state: "failed" });
    await platform.deploy("leaving", { addresses: [server.address] });
    status = 200;
    expect((await desk.redrive(id)).status).toBe(202);
    expect(await platform.calls.ended(id)).toMatchObject({ state: "done" });
  });

  test("a message that is not a call is listed, and can only be deleted", async () => {
    const access = platform.server.access("gateway");
    const link = await NatsLink.open({ ...access, name: "garbage", pingInterval: 5_000 });
    await link.js.publish("q.default.functions.shaky", "garbage");
    await link.close();
    const letter = await eventually(
      async () => (await desk.letters()).items.find(({ reason }) => reason === "undecodable"),
      { what: "the letter" },
    );
    expect(letter).toMatchObject({ size: 7, attempts: 0, advice: expect.stringContaining("then delete it") });
    const refused = await desk.redrive(letter.callId);
    expect([refused.status, refused.body.toString()]).toEqual([409, expect.stringContaining("can only be deleted")]);
    expect((await desk.remove(letter.callId)).status).toBe(202);
  });
});

describe("a callback that was given up", () => {
  test("is redriven with its output and headers; the function does not run again", async () => {
    status = 201;
    sink.answerAlways({ kind: "status", status: 410 });
    const id = await platform.calls.accepted("shaky", { callbackUrl: `${sink.url}?key=${secret}`, body: "in" });
    const letter = await eventually(() => deadLetterOf(id), { what: "the letter" });
    expect(letter).toMatchObject({ reason: "callback", attempts: 1, lastStatus: 410, size: 6 });
    // The letter is written first, as it must not be lost.
    const record = await eventually(
      async () => {
        const found = await platform.calls.status(id);
        return found?.callback?.state === "failed" ? found : undefined;
      },
      { what: "the record of the callback" },
    );
    expect(record).toMatchObject({ state: "done", callback: { state: "failed", status: 410 } });
    expect(letter.acceptedAt).toBe(record.acceptedAt);

    sink.answerAlways({ kind: "status", status: 204 });
    expect((await desk.redrive(id)).status).toBe(202);
    await eventually(async () => (await platform.calls.status(id))?.callback?.state === "sent", {
      what: "the callback to be sent",
    });
    const [first, second] = sink.of(id);
    expect(second?.body.toString()).toBe("201 in");
    expect(second?.target).toBe(first?.target);
    expect(second?.headers).toMatchObject({ "x-own": "header", "x-function-status": "201", "x-call-id": id });
    expect(runsOf(id)).toHaveLength(1);
    expect(await deadLetterOf(id)).toBeUndefined();
  });

  test("is redriven even if record and result are gone", async () => {
    status = 200;
    sink.answerAlways({ kind: "status", status: 410 });
    const id = await platform.calls.accepted("shaky", { callbackUrl: sink.url, body: "in" });
    await eventually(() => deadLetterOf(id), { what: "the letter" });
    await eventually(async () => (await platform.calls.status(id))?.callback?.state === "failed", {
      what: "the record",
    });
    const found = await platform.broker.ledger.read(id);
    await platform.broker.ledger.withdraw(id, found?.revision ?? 0);
    await platform.broker.ledger.removeResult(id, 1);
    sink.answerAlways({ kind: "status", status: 200 });
    expect((await desk.redrive(id)).status).toBe(202);
    await eventually(() => sink.of(id).length === 2, { what: "the callback" });
    expect(sink.of(id)[1]?.body.toString()).toBe("200 in");
    expect(await platform.calls.status(id)).toBeUndefined();
  });
});

test("pages are in order, and together complete", async () => {
  for (const { callId } of (await desk.letters("?limit=1000")).items) await desk.remove(callId);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push(await dead());
  const seen: string[] = [];
  let query = "?limit=2";
  for (;;) {
    const page = await desk.letters(query);
    seen.push(...page.items.map(({ callId }) => callId));
    if (page.next === undefined) break;
    expect(page.items).toHaveLength(2);
    query = `?limit=2&after=${page.next}`;
  }
  expect(seen).toEqual(ids);
});

test.each([
  ["GET", "/system/queue/none/dead-letters", 404, /Cannot find queue "none": it is not declared, only "default"/],
  ["GET", "/system/queue/A%20B/dead-letters", 404, /Cannot find route/],
  ["GET", "/system/queue/A_B/dead-letters", 400, /queue/],
  ["GET", "/system/queue/default/dead-letters?limit=0", 400, /Cannot read limit "0": expected a whole number from 1/],
  ["GET", "/system/queue/default/dead-letters?limit=1001", 400, /Cannot read limit/],
  [
    "GET",
    "/system/queue/default/dead-letters?after=x",
    400,
    /Cannot read after "x": expected next of the previous page/,
  ],
  ["POST", `/system/queue/default/dead-letters/${randomUUID()}/redrive`, 404, /lists them/],
  ["POST", "/system/queue/default/dead-letters/word/redrive", 400, /callId/],
  ["DELETE", `/system/queue/default/dead-letters/${randomUUID()}`, 404, /has no dead letter of it/],
  ["DELETE", `/system/queue/none/dead-letters/${randomUUID()}`, 404, /Cannot find queue "none"/],
])("%s %s is %i", async (method, path, code, sentence) => {
  const response = await desk.send(method, path);
  expect([response.status, response.body.toString()]).toEqual([code, expect.stringMatching(sentence)]);
});
