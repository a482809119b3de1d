import { text } from "node:stream/consumers";

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { FakeTokens } from "../support/fake-tokens.ts";
import { numberedId } from "../support/history-gateway.ts";
import { endedSockets } from "../support/server-sockets.ts";
import { MemorySessionStore } from "../support/memory/memory-session-store.ts";
import { openTestConsole, TestBrowser, type TestConsole } from "../support/test-console.ts";
import { EventClient } from "../support/watch/event-client.ts";

/** Streams over HTTP, at the port of the API and at that of the console. */
let opened: TestConsole;
const tokens = new FakeTokens();
const store = new MemorySessionStore();

beforeAll(async () => {
  opened = await openTestConsole({ store, app: { tokens: tokens.parts } });
});
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  tokens.allow({});
});

/** A stream at the port of the API, by default of the administrator. */
async function watch(on: string, authorization = opened.platform.authorization): Promise<EventClient> {
  return EventClient.open(opened.platform.port, on, { authorization, accept: "application/json" });
}

async function refusalOf(client: EventClient): Promise<readonly [number | undefined, string]> {
  using refused = client;
  const { code }: { readonly code: string } = JSON.parse(await text(refused.response));
  return [refused.response.statusCode, code];
}

describe("a stream", () => {
  test("has the headers that keep it from being stored or held back", async () => {
    using stream = (await watch("doctor,queues")).read();
    expect(stream.response.statusCode).toBe(200);
    expect(stream.response.headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    });
    await stream.until("doctor");
    await stream.until("queues", ({ begin }) => begin);
    expect(stream.events[0]?.name).toBe("hello");
  });

  test("ends for the gateway when its client leaves", async () => {
    const stream = (await watch("functions")).read();
    await stream.until("functions");
    const port = stream.response.socket.localPort ?? 0;
    expect(opened.platform.connections()).toContain(port);
    stream[Symbol.dispose]();
    await eventually(() => !opened.platform.connections().includes(port), { what: "the end of the connection" });
  });

  test.each(["nope", "queues:x", "call:1", "calls:limit=1", "calls:state=lost", "calls:since=soon"])(
    "of %s is 400",
    async (on) => {
      expect(await refusalOf(await watch(on))).toEqual([400, "validation_failed"]);
    },
  );

  test("is GET", async () => {
    const { platform } = opened;
    expect(await platform.statusOf("HEAD", "/system/watch")).toBe(405);
    expect(await platform.statusOf("POST", "/system/watch")).toBe(405);
  });

  test("of nobody is 401, of a page of a function 403", async () => {
    expect(await refusalOf(await watch("queues", ""))).toEqual([401, "credentials_required"]);
    const { authorization } = opened.platform;
    const sent = { authorization, "sec-fetch-site": "same-site", accept: "application/json" };
    expect(await refusalOf(await EventClient.open(opened.port, "queues", sent))).toEqual([403, "cross_origin"]);
  });
});

describe("a topic needs the right to its list", () => {
  const id = numberedId(1);
  test.each([
    ["functions", "Function:List", "dev:hello"],
    ["functions:dev", "Function:List", "dev:hello"],
    ["function:dev:hello", "Function:Get", "dev:hello"],
    ["log:dev:hello", "Function:Logs", "dev:hello"],
    ["queues", "Queue:List", "*"],
    ["calls", "Call:List", "dev:hello"],
    ["calls:namespace=dev", "Call:List", "dev:hello"],
    ["calls:function=hello.dev", "Call:List", "dev:hello"],
    [`call:${id}`, "Call:Get", "dev:hello"],
    ["doctor", "System:Doctor", "*"],
  ])("%s: %s on %s", async (on, action, resource) => {
    const actions = [
      "Function:List",
      "Function:Get",
      "Function:Logs",
      "Queue:List",
      "Call:List",
      "Call:Get",
      "System:Doctor",
    ];
    const others = actions.filter((each) => each !== action);
    tokens.allow({
      exact: [[[action], [resource]]],
      others: [[others, ["*"]]],
    });
    using stream = (await watch(on, tokens.give("exact"))).read();
    expect(stream.response.statusCode).toBe(200);
    await stream.until("hello");
    expect(await refusalOf(await watch(on, tokens.give("others")))).toEqual([403, "forbidden"]);
    if (on === "doctor") return;
    using some = (await watch(`${on},doctor`, tokens.give("exact"))).read();
    expect(await some.until("fault")).toMatchObject({ on: "doctor", code: "forbidden" });
    if (on.startsWith("functions")) expect(await some.until("functions")).toMatchObject({ on });
    using _stream = await watch("", tokens.give("others"));
  });

  test("whoever has rights in one namespace only reads what is there", async () => {
    tokens.allow({ owner: [[["*"], ["dev:*"]]] });
    using stream = (await watch("functions,queues", tokens.give("owner"))).read();
    expect(stream.response.statusCode).toBe(200);
    expect(await stream.until("fault")).toMatchObject({ on: "queues", code: "forbidden" });
    expect(await stream.until("functions")).toMatchObject({ on: "functions" });
    using empty = (await watch("", tokens.give("owner"))).read();
    await empty.until("hello");
    using nobody = await watch("functions", "");
    expect(nobody.response.statusCode).toBe(401);
  });
});

describe("at the port of the console", () => {
  test("a session reads it, with what only its page knows, and hears of its own end", async () => {
    const page = new TestBrowser(opened);
    await page.signIn();
    const cookie = [...page.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const sent = { cookie, "sec-fetch-site": "same-origin", host: new URL(opened.origin).host, accept: "*/*" };
    const half = { "x-weir-session": page.half ?? "" };
    using without = await EventClient.open(opened.port, "queues", sent);
    expect(without.response.statusCode).toBe(401);
    using foreign = await EventClient.open(opened.port, "queues", { ...sent, ...half, "sec-fetch-site": "same-site" });
    expect(foreign.response.statusCode).toBe(403);

    using stream = (await EventClient.open(opened.port, "queues", { ...sent, ...half })).read();
    expect(stream.response.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    await stream.until("queues");
    expect((await page.send("POST", "/auth/logout")).status).toBe(204);
    expect(await stream.until("bye")).toEqual({ reason: "session" });
    await eventually(() => stream.isOver, { what: "the end" });
  });
});

test("200 streams are open at most, those of logs among them", async () => {
  const { platform } = opened;
  // A client that closed is noticed when something is sent to it.
  const allLeft = async (): Promise<unknown> =>
    eventually(async () => (await endedSockets(platform.port)) + (await endedSockets(opened.port)) === 0, {
      what: "those before to be gone",
    });
  await allLeft();
  expect(await platform.statusOf("PUT", "/system/functions", { service: "log", image: "a" })).toBe(202);
  const logs = await platform.call("GET", "/system/logs?name=log&follow=true");
  const clients = await Promise.all(Array.from({ length: 199 }, () => watch("")));
  try {
    expect(new Set(clients.map(({ response }) => response.statusCode))).toEqual(new Set([200]));
    using more = await watch("");
    expect(more.response.headers["retry-after"]).toMatch(/^\d+$/);
    expect(await refusalOf(more)).toEqual([429, "too_many_streams"]);
    expect(await platform.statusOf("GET", "/system/logs?name=log&follow=true")).toBe(429);
  } finally {
    await logs.body?.cancel();
    for (const client of clients) client[Symbol.dispose]();
  }
  const isFree = async (): Promise<boolean> => {
    using stream = await watch("");
    return stream.response.statusCode === 200;
  };
  await eventually(isFree, { what: "a place" });
  await allLeft();
});

test("a client that does not read is told why it was closed; others read on", async () => {
  const { platform } = opened;
  expect(await platform.statusOf("PUT", "/system/functions", { service: "loud", image: "a" })).toBe(202);
  using slow = await watch("log:functions:loud");
  using quick = (await watch("log:functions:loud")).read();
  const record = { name: "loud", namespace: "functions", instance: "a", timestamp: "2026-01-31T12:00:00Z" };
  const read = (): number => quick.of("log").flatMap(({ records }) => records).length;
  await quick.until("log");
  // The sockets of both ends hold some of it, too.
  await eventually(
    async () => {
      const before = read();
      platform.logs.add({ ...record, text: `${"x".repeat(60_000)}\n` });
      platform.logs.add({ ...record, text: `${"x".repeat(60_000)}\n` });
      await eventually(() => read() > before, { what: "the quick one to read on" });
      return platform.logs.readers === 1;
    },
    { what: "the slow one to be closed", every: 1 },
  );
  slow.read();
  expect(await slow.until("bye")).toEqual({ reason: "slow" });
  await eventually(() => slow.isOver, { what: "the end" });
  expect(quick.of("bye")).toEqual([]);
});
