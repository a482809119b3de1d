import { describe, expect, test } from "vitest";

import type { CallDetail } from "../../runtime/api/schemas/history/call-detail.ts";
import type { CallRequest, ReplayRequest } from "../../runtime/api/schemas/history/call-request.ts";
import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import { safeRequest } from "../../runtime/core/history/requests/safe-request.ts";
import type { DeadLetter } from "../../runtime/core/ports/dead-letters.ts";
import { sampleCall } from "../contract/samples.ts";
import { encodeCall } from "../support/memory/memory-call-queue.ts";
import { eventually } from "../support/eventually.ts";
import { HistoryGateway, numberedId, openRecord } from "../support/history-gateway.ts";

/** The routes of kept requests and replays, with everything in memory. */
const hello = { namespace: "functions", name: "hello" };
const hour = 3_600_000;
const secret = ["Authorization", "Basic c2VjcmV0", "X-Api-Key", "canary"];
const plainHeaders = ["Content-Type", "text/plain", "X-Word", "one", "x-word", "two"];
const sent = [...secret, ...plainHeaders, "X-Forwarded-For", "10.0.0.9", "X-Forwarded-Host", "weir.example"];
const traced = [...sent, "traceparent", "00-11111111111111111111111111111111-1111111111111111-01", "tracestate", "a=b"];
const annotationHint = 'set annotation com.service.history.bodies on function "hello.functions"';

function requestOf(number: number, over: Partial<QueuedCall> = {}): QueuedCall {
  return sampleCall({ id: numberedId(number), function: hello, headers: traced, ...over });
}

/** A call that has ended, and whose request was kept. */
async function kept(opened: HistoryGateway, number: number, over: Partial<QueuedCall> = {}): Promise<string> {
  const id = await opened.write(number);
  await opened.requests.put(safeRequest(requestOf(number, over)), hour);
  return id;
}

/** A call that was given up. */
async function givenUp(opened: HistoryGateway, number: number, over: Partial<QueuedCall> = {}): Promise<string> {
  const id = await opened.write(number, { state: "failed", reason: "exhausted", status: 503 });
  const call = requestOf(number, over);
  const facts = { kind: "call", id, queue: "default", function: hello, reason: "exhausted" } as const;
  const letter: DeadLetter = {
    ...facts,
    attempts: 11,
    lastStatus: 503,
    acceptedAt: opened.start,
    deadAt: opened.start + 1_000,
    redrives: 0,
    ...encodeCall(call),
  };
  await opened.letters.put(letter);
  return id;
}

async function replay(
  opened: HistoryGateway,
  id: string,
  body?: ReplayRequest,
  authorization?: string,
): Promise<string> {
  const headers = authorization === undefined ? {} : { authorization };
  const response = await opened.platform.call("POST", `/system/calls/${id}/replay`, body, headers);
  const text = await response.text();
  if (response.status !== 202 || text !== "") throw new Error(`the replay was refused: ${response.status} ${text}`);
  expect(response.headers.get("x-start-time")).toMatch(/^\d{19}$/);
  return response.headers.get("x-call-id") ?? "";
}

const refusal = (opened: HistoryGateway, id: string, body?: unknown) =>
  opened.platform.refusal("POST", `/system/calls/${id}/replay`, body);

describe("the request of a call", () => {
  test.each([["as it was kept", kept] as const, ["from its dead letter", givenUp] as const])(
    "is shown %s, without credentials, sender and address",
    async (_from, store) => {
      await using opened = await HistoryGateway.open();
      const id = await store(opened, 1);
      const request = await opened.json<CallRequest>(`/system/calls/${id.toUpperCase()}/request`);
      expect(request).toEqual({
        method: "POST",
        path: "/a%2Fb",
        query: "x=1&y",
        headers: [...plainHeaders, "X-Forwarded-Host", "weir.example", ...traced.slice(-4)],
        body: Buffer.from([0, 255, 13, 10, 128]).toString("base64"),
        redacted: ["authorization", "x-api-key"],
      });
      expect(JSON.stringify(request)).not.toMatch(/canary|c2VjcmV0|10\.0\.0\.9/);
    },
  );

  test("comes from the dead letter first", async () => {
    await using opened = await HistoryGateway.open();
    const id = await givenUp(opened, 1, { path: "/letter" });
    await opened.requests.put(safeRequest(requestOf(1, { path: "/kept" })), hour);
    const path = async () => (await opened.json<CallRequest>(`/system/calls/${id}/request`)).path;
    expect(await path()).toBe("/letter");
    for (const letter of await opened.letters.find("default", id)) await opened.letters.remove(letter);
    expect(await path()).toBe("/kept");
  });

  test("that was not kept is 404, saying what keeps it", async () => {
    await using opened = await HistoryGateway.open();
    const notKept = async (number: number, why: string) => {
      const id = numberedId(number);
      expect(await opened.platform.refusal("GET", `/system/calls/${id}/request`)).toEqual({
        status: 404,
        code: "request_not_kept",
        detail: `Cannot show the request of call "${id}": ${why}`,
      });
    };
    await opened.write(1);
    await notKept(1, `it was not kept, or no longer is; ${annotationHint}`);
    await opened.write(2, openRecord);
    await notKept(2, "it is queued, and requests are kept at the end");
    const sync = { ...hello, id: numberedId(3), method: "GET", status: 200, startedAt: opened.start, duration: 1 };
    await opened.kept.apply({ changes: [{ kind: "sync", call: sync }], rollups: [] });
    await notKept(3, "it was answered at once, and requests of such calls are not kept");
  });

  test("of an unknown call is 404, and 503 while the broker that keeps it is away", async () => {
    await using opened = await HistoryGateway.open();
    expect(await opened.platform.refusal("GET", `/system/calls/${numberedId(1)}/request`)).toEqual({
      status: 404,
      code: "call_not_found",
      detail: `Cannot show the request of call "${numberedId(1)}": it is unknown or expired`,
    });
    const id = await kept(opened, 2);
    opened.requests.isThere = false;
    expect(await opened.platform.refusal("GET", `/system/calls/${id}/request`)).toMatchObject({
      status: 503,
      code: "queue_unavailable",
    });
  });

  test("is known to the call, and so is whether it can be replayed", async () => {
    await using opened = await HistoryGateway.open();
    const [keptId, letterId, lostId, openId] = [
      await kept(opened, 1),
      await givenUp(opened, 2),
      await opened.write(3),
      await opened.write(4, openRecord),
    ];
    const shown = async (id: string) => {
      const { request, actions } = await opened.json<CallDetail>(`/system/calls/${id}`);
      return [request, actions.replay];
    };
    const [request, can] = await shown(keptId);
    expect(request).toEqual({ kept: true, size: 5, expiresAt: expect.any(String) });
    expect(can).toBe(true);
    const fortnight = new Date(opened.start + 1_000 + 14 * 24 * hour).toISOString();
    expect(await shown(letterId)).toEqual([{ kept: true, size: 5, expiresAt: fortnight }, true]);
    const cannot = (id: string, why: string) => `Cannot replay call "${id}": ${why}`;
    const notKept = `its request was not kept; ${annotationHint}, or send the call again`;
    expect(await shown(lostId)).toEqual([{ kept: false }, cannot(lostId, notKept)]);
    expect(await shown(openId)).toEqual([{ kept: false }, cannot(openId, "it is queued")]);
    opened.requests.isThere = false;
    const unsaid = "the broker does not say whether its request was kept";
    expect(await shown(keptId)).toEqual([{ kept: false }, cannot(keptId, unsaid)]);
  });

  test("goes with its call", async () => {
    await using opened = await HistoryGateway.open();
    const id = await kept(opened, 1);
    opened.requests.isThere = false;
    expect((await opened.send("DELETE", `/system/calls/${id}`))[0]).toBe(503);
    opened.requests.isThere = true;
    expect((await opened.send("DELETE", `/system/calls/${id}`))[0]).toBe(202);
    expect(await opened.requests.find(hello, id)).toBeUndefined();
  });
});

describe("a replay", () => {
  test.each([["what was kept", kept] as const, ["its dead letter", givenUp] as const])(
    "of %s is a new call of the function as it is now",
    async (_from, store) => {
      await using opened = await HistoryGateway.open();
      opened.replays.deploy(hello, { "com.service.queue": "slow", "com.service.retry.attempts": "3" });
      const id = await store(opened, 1, { depth: 2 });
      const newId = await replay(opened, id);
      expect(newId).toMatch(/^[0-9a-f-]{36}$/);
      expect(newId).not.toBe(id);
      const [call, ...others] = opened.replays.queued;
      expect(others).toEqual([]);
      expect(call).toEqual({
        ...requestOf(1),
        id: newId,
        parentId: id,
        queue: "slow",
        depth: 2,
        start: expect.any(BigInt),
        callbackUrl: undefined,
        body: expect.anything(),
        headers: [
          ...plainHeaders,
          "X-Forwarded-Host",
          "weir.example",
          "X-Forwarded-For",
          "127.0.0.1",
          "traceparent",
          expect.stringMatching(/^00-(?!1{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/),
        ],
      });
      expect([...(call?.body ?? [])]).toEqual([...requestOf(1).body]);
      expect((await opened.ledger.read(newId))?.entry).toMatchObject({
        state: "queued",
        replayOf: id,
        source: "replay",
        parent: id,
        maxRetries: 3,
        callback: null,
      });
    },
  );

  test("has what is sent with it in place of what the request had", async () => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello);
    const id = await kept(opened, 1);
    await replay(opened, id, {
      headers: ["X-WORD", "three", "Authorization", "Bearer mine", "X-Api-Key", " new\t"],
      body: Buffer.from("other").toString("base64"),
    });
    const [call] = opened.replays.queued;
    expect(Buffer.from(call?.body ?? []).toString()).toBe("other");
    expect(call?.headers).toEqual([
      "Content-Type",
      "text/plain",
      "X-Forwarded-Host",
      "weir.example",
      "X-WORD",
      "three",
      "X-Api-Key",
      "new",
      "X-Forwarded-For",
      "127.0.0.1",
      "traceparent",
      expect.any(String),
      "Authorization",
      "Bearer mine",
    ]);
    await replay(opened, id, { headers: ["Authorization", "Basic platform"], body: "" });
    expect(opened.replays.queued[1]?.headers).not.toContain("Basic platform");
    expect(opened.replays.queued[1]?.body.byteLength).toBe(0);
  });

  test("sends the callback only if that is asked for, and only where one may go", async () => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello);
    const [id, none, closed] = [
      await kept(opened, 1),
      await kept(opened, 2, { callbackUrl: undefined }),
      await kept(opened, 3, { callbackUrl: "http://127.0.0.1:9/" }),
    ];
    const urls = async (of: string, body: ReplayRequest) => {
      await replay(opened, of, body);
      return opened.replays.queued.at(-1)?.callbackUrl;
    };
    expect(await urls(id, { callback: true })).toBe("https://example.com/done?k=v");
    expect(await urls(id, { callback: false })).toBeUndefined();
    expect(await urls(none, { callback: true })).toBeUndefined();
    expect(await refusal(opened, closed, { callback: true })).toMatchObject({
      status: 400,
      code: "invalid_callback_url",
    });
    expect(await urls(closed, {})).toBeUndefined();
  });

  test("is the sender's: a protected function is told who replays, and needs their Function:Invoke", async () => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello, { "com.service.auth": "required" });
    const principal = ["X-Auth-Subject", "eve", "X-Auth-Issuer", "https://evil.example", "X-Auth-Claims", "e30"];
    const id = await givenUp(opened, 1, { headers: [...sent, ...principal] });
    opened.tokens.allow({
      alice: [["Call:Replay", "Function:Invoke"], ["functions:*"]],
      bob: [["Call:Replay"], ["functions:*"]],
    });
    const [alice, bob] = [opened.tokens.give("alice"), opened.tokens.give("bob")];
    const newId = await replay(opened, id, { headers: ["Authorization", "Bearer mine"] }, alice);
    expect(opened.replays.queued[0]?.headers.slice(-4)).toEqual([
      "X-Auth-Subject",
      "fed:alice",
      "X-Auth-Issuer",
      "https://issuer.example",
    ]);
    expect(opened.replays.queued[0]?.headers.filter((text) => /eve|mine|evil/.test(text))).toEqual([]);
    expect((await opened.ledger.read(newId))?.entry.principal?.subject).toBe("fed:alice");
    const [status, text] = await opened.send("POST", `/system/calls/${id}/replay`, bob);
    expect([status, text]).toEqual([403, expect.stringContaining("has no policy that allows Function:Invoke on ")]);
    expect(opened.refused).toMatchObject([{ action: "Function:Invoke", resources: ["functions:hello"] }]);
    expect(opened.replays.queued.length).toBe(1);
  });

  test("can be replayed itself, and is listed with the call it replays", async () => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello);
    const id = await kept(opened, 1);
    const newId = await replay(opened, id);
    const record = await opened.ledger.read(newId);
    if (record === undefined) throw new Error("it has no record");
    const { entry, revision } = record;
    await opened.kept.apply({ changes: [{ kind: "entry", id: newId, revision, entry }], rollups: [] });
    expect(await opened.json<CallDetail>(`/system/calls/${newId}`)).toMatchObject({ replayOf: id, source: "replay" });
    expect((await opened.json<CallDetail>(`/system/calls/${id}`)).replays).toEqual([newId]);
  });

  test("is a change: it is audited with the function", async () => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello);
    await replay(opened, await kept(opened, 1));
    await eventually(() => opened.changed.length === 1, { what: "the change" });
    expect(opened.changed).toMatchObject([
      { action: "Call:Replay", resources: ["functions:hello"], status: 202, by: { role: "administrator" } },
    ]);
  });

  test("of a call that is open, was answered at once or has no request is 409", async () => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello);
    await opened.write(1);
    await opened.write(2, openRecord);
    const sync = { ...hello, id: numberedId(3), method: "GET", status: 200, startedAt: opened.start, duration: 1 };
    await opened.kept.apply({ changes: [{ kind: "sync", call: sync }], rollups: [] });
    const sentences = [
      `its request was not kept; ${annotationHint}, or send the call again`,
      "it is queued",
      "it was answered at once, and requests of such calls are not kept",
    ];
    for (const [index, why] of sentences.entries()) {
      const id = numberedId(index + 1);
      expect(await refusal(opened, id)).toEqual({
        status: 409,
        code: "call_not_replayable",
        detail: `Cannot replay call "${id}": ${why}`,
      });
    }
    expect(opened.replays.queued).toEqual([]);
  });

  test("is refused as any other call is", async () => {
    await using opened = await HistoryGateway.open();
    const id = await kept(opened, 1);
    expect(await refusal(opened, id)).toMatchObject({ status: 404, code: "function_not_found" });
    opened.replays.deploy(hello, { "com.service.queue": "undeclared" });
    expect(await refusal(opened, id)).toMatchObject({ status: 404, code: "queue_not_found" });
    opened.replays.deploy(hello);
    const large = Buffer.alloc(1_025).toString("base64");
    expect(await refusal(opened, id, { body: large })).toMatchObject({ status: 413, code: "payload_too_large" });
    opened.replays.outcome = { kind: "refused", because: "full" };
    expect(await refusal(opened, id)).toMatchObject({ status: 429, code: "queue_full" });
    opened.replays.outcome = { kind: "refused", because: "unavailable" };
    expect(await refusal(opened, id)).toMatchObject({ status: 503, code: "queue_unavailable" });
    expect(await refusal(opened, numberedId(9))).toMatchObject({ status: 404, code: "call_not_found" });
  });

  test("that the queue did not answer names the call that it may have become", async () => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello);
    const id = await kept(opened, 1);
    opened.replays.outcome = { kind: "unknown" };
    const response = await opened.platform.call("POST", `/system/calls/${id}/replay`);
    const newId = response.headers.get("x-call-id") ?? "";
    expect([response.status, response.headers.get("x-call-queued"), await response.text()]).toEqual([
      503,
      "unknown",
      `Cannot replay call "${id}": no answer from the queue; if it was queued all the same, it is call "${newId}"\n`,
    ]);
    expect((await opened.ledger.read(newId))?.entry.replayOf).toBe(id);
  });

  test.each<[string, unknown, string]>([
    ["an odd number of headers", { headers: ["X-Word"] }, "Cannot read headers: expected names and values in turn"],
    ["a name that is none", { headers: ["X Word", "1"] }, 'Cannot read headers: "X Word" is not the name of a header'],
    ["a value with a line end", { headers: ["X-Word", "1\r\nHost: x"] }, 'Cannot read headers: the value of "X-Word"'],
    ["a character beyond a byte", { headers: ["X-Word", "\u20ac"] }, 'Cannot read headers: the value of "X-Word"'],
    ...["Host", "Content-Length", "X-Auth-Subject", "x-auth_subject", "X-Call-Id", "Connection", "Weir-Invoke"].map(
      (name): [string, unknown, string] => [
        `header ${name}`,
        { headers: [name, "1"] },
        `Cannot read headers: "${name}" is set by the platform`,
      ],
    ),
    ["one header twice", { headers: ["Authorization", "a", "authorization", "b"] }, '"authorization" came twice'],
    ["a body that is not base64", { body: "a b" }, "Cannot read"],
    [
      "a misspelt field",
      { calback: true },
      'Cannot read field "calback": there is no such field; did you mean "callback"?',
    ],
    ["a list", [], "Cannot read"],
  ])("with %s is 400", async (_what, body, sentence) => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello);
    const id = await kept(opened, 1);
    expect(await refusal(opened, id, body)).toEqual({
      status: 400,
      code: "validation_failed",
      detail: expect.stringContaining(sentence),
    });
    expect(opened.replays.queued).toEqual([]);
  });

  test("with more headers than a call may have is 431", async () => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello);
    const id = await kept(opened, 1);
    const many = Array.from({ length: 150 }, (_, index) => [`X-${index}`, ""]).flat();
    expect(await refusal(opened, id, { headers: many })).toMatchObject({ status: 431, code: "headers_too_large" });
    const long = { headers: ["X-Word", "x".repeat(40_000)] };
    expect(await refusal(opened, id, long)).toMatchObject({ status: 431, code: "headers_too_large" });
  });
});

describe("whoever may not", () => {
  test("see a call learns nothing of its request; who may only see it is refused", async () => {
    await using opened = await HistoryGateway.open();
    opened.replays.deploy(hello);
    const id = await kept(opened, 1);
    opened.tokens.allow({
      alice: [
        [["Call:Get"], ["functions:*"]],
        [["Call:Payload", "Call:Replay"], ["dev:*"]],
      ],
      bob: [["Call:Payload", "Call:Replay", "Call:Get"], ["dev:*"]],
      eve: [["Function:Invoke"], ["*"]],
      zoe: [["Call:Payload", "Call:Replay"], ["functions:*"]],
    });
    const asked = [
      ["GET", "request", "show the request of", "Call:Payload"],
      ["POST", "replay", "replay", "Call:Replay"],
    ] as const;
    for (const [method, what, act, action] of asked) {
      const path = `/system/calls/${id}/${what}`;
      const as = (name: string) => opened.send(method, path, opened.tokens.give(name));
      expect(await as("alice")).toEqual([403, expect.stringContaining(`${action} on functions:hello`)]);
      expect(await as("bob")).toEqual([404, `Cannot ${act} call "${id}": it is unknown or expired\n`]);
      expect(await as("eve")).toEqual([403, expect.stringContaining(`has no policy that allows ${action} on *`)]);
      expect((await as("zoe"))[0]).toBe(method === "GET" ? 200 : 202);
    }
    expect(opened.replays.queued.length).toBe(1);
  });
});
