import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";

import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { historyProgressPath } from "../../runtime/api/schemas/history/history-wire.ts";
import { openHistoryApi } from "../../runtime/history/api/open-history-api.ts";
import { buildHistoryMetrics } from "../../runtime/history/history-metrics.ts";
import { openAdminServer } from "../../runtime/process/admin-server.ts";
import { serveFunction } from "../../runtime/watchdog/serve-function.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { RawClient, openRawClient } from "../support/raw-client.ts";
import { selfSigned } from "../support/self-signed.ts";
import { endedSockets } from "../support/server-sockets.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const headersTimeout = 60_000;

describe.each(["without TLS", "with TLS"])("at the gateway %s, a client that ends its side", (way) => {
  let gateway: SyncGateway;
  let echo: FunctionServer;
  /** Replies that wait until they are let go. */
  let held: ServerResponse[] = [];
  let tls: { cert: Buffer; key: Buffer } | undefined;

  beforeAll(async () => {
    tls = way === "with TLS" ? await selfSigned() : undefined;
    echo = await openFunctionServer((request, response, body) => {
      if (request.url === "/held") held.push(response);
      else if (request.url === "/begun") {
        response.write("begun,");
        held.push(response);
      } else response.end(`${request.url} ${body}`);
    });
    gateway = await openSyncGateway({
      server: { ...(tls === undefined ? {} : { tls }), headersTimeout },
      invokeAsync: (exchange) => void exchange.writeHead(202, { "Content-Length": "0" }).end(),
      other: (request, response) => {
        request.resume();
        if (request.url === "/system/held") held.push(response);
        else response.end("at once");
      },
    });
    gateway.deploy("echo", { addresses: [echo.address] });
  });
  afterAll(async () => {
    await gateway?.close();
    await echo?.close();
  });

  const open = async (): Promise<RawClient> => {
    held = [];
    const options = { port: gateway.port, host: "localhost", allowHalfOpen: true };
    const client = new RawClient(tls === undefined ? connect(options) : connectTls({ ...options, ca: tls.cert }));
    onTestFinished(() => client.close());
    await once(client.socket, tls === undefined ? "connect" : "secureConnect");
    return client;
  };
  /** Sends `bytes` and the end, lets held replies go once the gateway has both, and returns what came until the end. */
  const sendAndEnd = async (bytes: string, holds = 0): Promise<string> => {
    const client = await open();
    client.socket.end(Buffer.from(bytes, "latin1"));
    if (holds > 0) {
      await expect.poll(() => held.length).toBe(holds);
      await expect.poll(() => endedSockets(gateway.port)).toBe(1);
      for (const response of held) response.end("released");
    }
    await client.end();
    return client.text;
  };
  const post = (target: string, more: string, version = "1.1"): string =>
    `POST ${target} HTTP/${version}\r\nHost: g\r\n${more}`;
  const statuses = (text: string): number[] =>
    [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

  test.each([
    ["a call", "/function/echo", 0],
    ["a call whose function takes its time", "/function/echo/held", 1],
    ["a call whose reply has begun", "/function/echo/begun", 1],
    ["an asynchronous call", "/async-function/echo", 0],
    ["a request of the REST API", "/system/info", 0],
    ["a request of the REST API that waits", "/system/held", 1],
  ])("gets the reply to %s, whatever the framing", async (_what, target, holds) => {
    for (const [version, framing] of [
      ["1.1", "Content-Length: 2\r\n\r\nhi"],
      ["1.1", "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"],
      ["1.1", "\r\n"],
      ["1.0", "Content-Length: 2\r\n\r\nhi"],
    ] as const) {
      const text = await sendAndEnd(post(target, framing, version), holds);
      expect(statuses(text)).toEqual([target.startsWith("/async") ? 202 : 200]);
      if (holds > 0) expect(text).toContain("released");
    }
  });

  test("gets the replies to all that it sent, in order", async () => {
    const call = (name: string): string => post(`/function/echo/${name}`, "Content-Length: 1\r\n\r\nx");
    const text = await sendAndEnd(call("1") + call("held") + post("/system/info", "\r\n") + call("2"), 1);
    expect(statuses(text)).toEqual([200, 200, 200, 200]);
    expect(text).toMatch(/\/1 x[^]*released[^]*at once[^]*\/2 x/);
  });

  test.each([
    ["a head", "GET /function/echo HTTP/1.1\r\nHost: g\r\n"],
    ["a body", post("/function/echo", "Content-Length: 9\r\n\r\nhalf")],
    ["chunks", post("/function/echo", "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")],
  ])("in the middle of %s gets 400 for it, and the replies before it", async (_what, half) => {
    const seen = echo.requests.length;
    expect(statuses(await sendAndEnd(half))).toEqual([400]);
    expect(statuses(await sendAndEnd(post("/function/echo/held", "\r\n") + half, 1))).toEqual([200, 400]);
    expect(echo.requests.length).toBe(seen + 1);
  });

  test("and closes is noticed while its reply is awaited", async () => {
    const client = await open();
    client.send(post("/function/echo/held", "Content-Length: 2\r\n\r\nhi"));
    await expect.poll(() => held.length).toBe(1);
    client.close();
    await expect.poll(() => echo.open).toBe(0);
  });

  test("and closes is noticed while the next chunk is awaited; one that stays reads all chunks", async () => {
    const request = post("/function/echo/begun", "Content-Length: 2\r\n\r\nhi");
    const client = await open();
    client.socket.end(request);
    await expect.poll(() => client.text).toMatch(/begun,\r\n00$/);
    held[0]?.write("more");
    await expect.poll(() => client.text).toMatch(/begun,\r\n0+4\r\nmore\r\n0$/);
    held[0]?.end();
    await client.end();
    expect((await client.replies(1))[0]?.body).toBe("begun,more");

    const leaving = await open();
    leaving.send(request);
    await expect.poll(() => leaving.text).toContain("begun,");
    leaving.close();
    await expect.poll(() => echo.open).toBe(0);
  });

  test.each(["1.1", "1.0"])(
    "and stays gets the beginning of its reply early, which shows that it reads: HTTP/%s",
    async (version) => {
      const client = await open();
      client.socket.end(post("/function/echo/held", "Content-Length: 2\r\n\r\nhi", version));
      await expect.poll(() => client.text).toBe("HT");
      held[0]?.end("released");
      await client.end();
      expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*released/);
    },
  );
});

describe("a client that ends its side gets the reply", () => {
  const request = (method: string, path: string): string =>
    `${method} ${path} HTTP/1.1\r\nHost: g\r\nContent-Length: 4\r\n\r\nnull`;
  const replyTo = async (client: RawClient, bytes: string): Promise<string> => {
    onTestFinished(() => client.close());
    client.socket.end(bytes);
    await client.end();
    return client.text;
  };
  const openTo = async (port: number): Promise<RawClient> => {
    const client = await openRawClient(port);
    client.socket.allowHalfOpen = true;
    return client;
  };

  test("of the port for probes", async () => {
    const admin = await openAdminServer({ host: "127.0.0.1", port: 0, headersTimeout });
    onTestFinished(() => admin.close());
    let release = (): void => {};
    admin.addMetrics(() => new Promise((resolve) => (release = () => resolve("late 1\n"))));
    const text = replyTo(await openTo(admin.port), request("GET", "/metrics"));
    await expect.poll(() => endedSockets(admin.port)).toBe(1);
    release();
    expect(await text).toMatch(/ 200 OK[^]*late 1/);
  });

  test("of the history", async () => {
    await using directory = await tempDirectory("history-api");
    let release = (): void => {};
    const api = await openHistoryApi({
      reads: {
        list: async () => ({ rows: [], total: { value: 0, exact: true } }),
        get: async () => undefined,
        replaysOf: async () => [],
        functions: async () => [],
        gaps: async () => [],
        rollups: async () => [],
      },
      remove: async () => false,
      erase: async () => ({ calls: 0 }),
      requestRebuild: async () => {},
      progress: () => new Promise((resolve) => (release = () => resolve({ lagSeconds: 7, complete: true, gaps: [] }))),
      metrics: buildHistoryMetrics(new Registry()),
      place: { directory: join(directory.path, "history") },
      headersTimeout,
    });
    onTestFinished(() => api.close());
    const socket = connect({ path: String(api.address), allowHalfOpen: true });
    const text = replyTo(new RawClient(socket), `GET ${historyProgressPath} HTTP/1.1\r\nHost: g\r\n\r\n`);
    await expect.poll(() => String(release)).toContain("resolve");
    release();
    expect(await text).toMatch(/ 200 OK[^]*7/);
  });

  test("of the watchdog, and is noticed when it resets", async () => {
    const held: ServerResponse[] = [];
    const server = await serveFunction({
      host: "127.0.0.1",
      port: 0,
      maxInflight: 0,
      healthPath: "/_/health",
      readyPath: "/_/ready",
      handler: {
        handle: (_request, response) => {
          response.write("begun,");
          held.push(response);
        },
        ready: async () => true,
        started: Promise.resolve(),
        ended: new Promise(() => {}),
        close: async () => {},
      },
    });
    onTestFinished(() => server.drain(0));
    const text = replyTo(await openTo(server.port), request("POST", "/"));
    await expect.poll(() => held.length).toBe(1);
    await expect.poll(() => endedSockets(server.port)).toBe(1);
    held[0]?.end("late");
    expect(await text).toMatch(/ 200 OK[^]*begun,[^]*late/);

    const leaving = await openTo(server.port);
    leaving.socket.end(request("POST", "/"));
    await expect.poll(() => held.length).toBe(2);
    await expect.poll(() => endedSockets(server.port)).toBe(1);
    leaving.socket.resetAndDestroy();
    await expect.poll(() => held[1]?.destroyed).toBe(true);
  });
});
