import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { ClientLimit } from "../../runtime/gateway/edge/client-limit.ts";
import { Http1Server, type Http1ServerParts } from "../../runtime/gateway/edge/http1/http1-server.ts";
import { startServer } from "../../runtime/gateway/edge/servers-beside.ts";
import { createHeadReader } from "../../runtime/gateway/edge/head-reader.ts";
import { understandRequest } from "../../runtime/gateway/edge/http1/understand-request.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { openMemoryAsyncInvoker } from "../support/memory-async-invoker.ts";
import { openRawClient, type RawClient } from "../support/raw-client.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

/** At least 1 000 bytes in any second, and 3 s in all: the rule of asynchronous bodies, ten times as fast. */
const asyncBody = { longest: 3_000, least: { bytes: 1_000, within: 1_000 } };
const post = (target: string, framing: string): string => `POST ${target} HTTP/1.1\r\nHost: g\r\n${framing}\r\n\r\n`;

describe("bodies that trickle", () => {
  let gateway: SyncGateway;

  beforeAll(async () => {
    gateway = await openSyncGateway({
      invokeAsync: (...call) => invokeAsync(...call),
      server: { bodyIdleTimeout: 5_000, asyncBody },
    });
    const invokeAsync = openMemoryAsyncInvoker(gateway.table);
    const echo = await openFunctionServer((_request, response, body) => response.end(body));
    onFinished.push(() => echo.close());
    gateway.deploy("echo", { addresses: [echo.address] });
  });
  const onFinished: (() => Promise<void>)[] = [];
  afterAll(async () => {
    await gateway?.close();
    for (const finish of onFinished) await finish();
  });

  /** Sends `size` bytes every 50 ms until there is a response; returns the milliseconds until then. */
  async function trickle(client: RawClient, size: number, most = 100, chunked = false): Promise<number> {
    const startedAt = performance.now();
    const chunk = "x".repeat(size);
    for (let left = most; left > 0 && client.text === ""; left -= 1) {
      client.send(chunked ? `${size.toString(16)}\r\n${chunk}\r\n` : chunk);
      await pause(50);
    }
    return performance.now() - startedAt;
  }
  async function open(): Promise<RawClient> {
    const client = await openRawClient(gateway.port);
    onTestFinished(() => client.close());
    return client;
  }

  test.each([
    ["with a length", "Content-Length: 1000000", false],
    ["in chunks", "Transfer-Encoding: chunked", true],
  ])("of asynchronous calls are 408 once they are too slow, %s", async (_name, framing, chunked) => {
    const client = await open();
    client.send(post("/async-function/echo", framing));
    // A byte every 50 ms is never idle.
    const time = await trickle(client, 1, 100, chunked);
    const [reply] = await client.replies(1);
    expect(reply?.status).toBe(408);
    expect(reply?.body).toContain("its body came slower than 1000 bytes in 1 s");
    await client.end(5_000);
    expect(time).toBeGreaterThan(950);
  });

  test("the framing of chunks does not count", async () => {
    const client = await open();
    client.send(post("/async-function/echo", "Transfer-Encoding: chunked"));
    for (let left = 100; left > 0 && client.text === ""; left -= 1) {
      client.send(`1;${"a".repeat(300)}\r\nx\r\n`);
      await pause(50);
    }
    expect((await client.replies(1))[0]?.status).toBe(408);
  });

  test("that arrive fast enough, but for too long, are 408, too", async () => {
    const client = await open();
    client.send(post("/async-function/echo", "Content-Length: 1000000"));
    await trickle(client, 2_000);
    const [reply] = await client.replies(1);
    expect(reply).toMatchObject({ status: 408, body: expect.stringContaining("took longer than 3 s") });
  });

  test("that end soon are queued however slow they are", async () => {
    const client = await open();
    client.send(post("/async-function/echo", "Content-Length: 4"));
    await trickle(client, 1, 4);
    expect((await client.replies(1))[0]?.status).toBe(202);
  });

  test("of synchronous calls may trickle on within their limit", async () => {
    const client = await open();
    client.send(post("/function/echo", "Content-Length: 40"));
    await trickle(client, 1, 40);
    expect((await client.replies(1))[0]).toMatchObject({ status: 200, body: "x".repeat(40) });
  });
});

describe("connections", () => {
  const readHead = createHeadReader({});

  async function serve(
    parts: Partial<Http1ServerParts>,
  ): Promise<{ readonly port: number; readonly refused: string[] }> {
    const refused: string[] = [];
    const server = new Http1Server({
      understand: (text, address, secure) => understandRequest(text, address, secure, readHead),
      serve: (exchange) => exchange.writeHead(200, { "Content-Length": "2" }).end("ok"),
      refuse: (exchange) => exchange.writeHead(400, { "Content-Length": "0" }).end(),
      onMalformed: () => {},
      headersTimeout: 60_000,
      keepAlive: 60_000,
      idle: 60_000,
      mostConnections: 100,
      clients: new ClientLimit(0, () => false),
      onTooMany: (reason) => void refused.push(reason),
      ...parts,
    });
    const port = await startServer(server, { host: "127.0.0.1", port: 0 });
    onTestFinished(() => {
      server.closeAll();
      server.listener.close();
    });
    return { port, refused };
  }
  const call = "GET /function/a HTTP/1.1\r\nHost: g\r\n\r\n";

  test.each([
    ["client", { clients: new ClientLimit(3, () => false) }],
    ["all", { mostConnections: 3 }],
  ])("beyond the limit of one client, or of all, are closed on arrival: %s", async (reason, parts) => {
    const { port, refused } = await serve(parts);
    const clients = await Promise.all(Array.from({ length: 3 }, () => openRawClient(port)));
    onTestFinished(() => clients.forEach((client) => client.close()));
    for (const client of clients) client.send(call);
    for (const client of clients) expect((await client.replies(1))[0]?.body).toBe("ok");

    const fourth = await openRawClient(port);
    fourth.send(call);
    await fourth.end();
    expect(fourth.text).toBe("");
    expect(refused).toEqual([reason]);

    // Existing connections are still served, and a place that was freed is used.
    clients[1]?.send(call);
    expect(await clients[1]?.replies(2)).toHaveLength(2);
    clients[0]?.close();
    await expect
      .poll(async () => {
        const next = await openRawClient(port);
        next.send(call);
        const replies = await next.replies(1, 5_000).catch(() => []);
        next.close();
        return replies.length;
      })
      .toBe(1);
  });

  test("that are idle for longer than announced are closed", async () => {
    const { port } = await serve({ keepAlive: 1_000 });
    const client = await openRawClient(port);
    onTestFinished(() => client.close());
    client.send(call);
    const [reply] = await client.replies(1);
    expect(reply).toMatchObject({ body: "ok", headers: { "keep-alive": "timeout=1" } });
    await client.end();
  });

  test.each([
    ["at once", 0],
    ["once it was idle for longer than that", 700],
  ])("whose client reads nothing of what waits for it are aborted, %s", async (_when, rests) => {
    let closed = false;
    const { port } = await serve({
      idle: 300,
      serve: (exchange) => {
        exchange.on("close", () => (closed = true));
        exchange.writeHead(200, { "Content-Length": String(64 * 1_048_576) }).end(Buffer.alloc(64 * 1_048_576));
      },
    });
    const client = await openRawClient(port);
    onTestFinished(() => client.close());
    client.socket.pause();
    // The limit passes while nothing waits.
    await pause(rests);
    client.send(call);
    await expect.poll(() => closed, { timeout: 10_000 }).toBe(true);
  });
});
