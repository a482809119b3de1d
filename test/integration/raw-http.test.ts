import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openRawClient, rawRequest } from "../support/raw-client.ts";
import { malformedChunks, malformedRequests, refusedRequests, withTarget } from "../support/raw-requests.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

/** Of a body, milliseconds. */
const idleTimeout = 1_000;
const routes = ["/function/echo", "/async-function/echo", "/system/info"] as const;

describe("raw HTTP", () => {
  let gateway: SyncGateway;
  let echo: FunctionServer;

  beforeAll(async () => {
    echo = await openFunctionServer((request, response, body) => response.end(`${request.url} ${body}`));
    gateway = await openSyncGateway({ server: { headersTimeout: 1_000, bodyIdleTimeout: idleTimeout } });
    gateway.deploy("echo", { addresses: [echo.address] });
  });
  afterAll(async () => {
    await gateway?.close();
    await echo?.close();
  });

  describe.each(routes)("%s", (route) => {
    test.each(malformedRequests)("%s: 400, closed, nothing after it is served", async (_name, bytes) => {
      const before = echo.requests.length;
      const client = await openRawClient(gateway.port);
      client.send(`${withTarget(bytes, route)}GET /function/echo/after HTTP/1.1\r\nHost: g\r\n\r\n`);
      await client.end();
      const replies = await client.replies(1);
      client.close();

      expect(replies.map(({ status }) => status)).toEqual([400]);
      expect(replies[0]?.headers["connection"]).toBe("close");
      expect(echo.requests.slice(before)).toEqual([]);
    });

    test.each(refusedRequests(route))("%s: %i, closed", async (_name, status, bytes) => {
      const reply = await rawRequest(gateway.port, bytes);
      expect(reply).toMatchObject({ status, closed: true });
      expect(reply.headers["connection"]).toBe("close");
      expect(reply.headers["x-content-type-options"]).toBe("nosniff");
      expect(reply.headers["allow"] !== undefined).toBe(status === 405);
    });

    test("a head that is not completed: 408", async () => {
      const reply = await rawRequest(gateway.port, `GET ${route} HTTP/1.1\r\nHost:`, 15_000);
      expect(reply).toMatchObject({ status: 408, closed: true });
    });
  });

  test("a request line without a version: 400, closed", async () => {
    expect(await rawRequest(gateway.port, "GET /function/echo\r\nHost: g\r\n\r\n")).toMatchObject({
      status: 400,
      closed: true,
    });
  });

  test.each(["h2c", "websocket"])(
    "nothing that follows Upgrade: %s is served: the connection ends with it",
    async (to) => {
      const get = "GET /function/echo HTTP/1.1\r\nHost: g\r\n";
      const reply = await rawRequest(gateway.port, `${get}Connection: upgrade\r\nUpgrade: ${to}\r\n\r\n${get}\r\n`);
      expect(reply).toMatchObject({ status: 200, closed: true });
      expect(reply.headers["connection"]).toBe("close");
    },
  );

  test("a request that got its response before its body was aborted gets no second one", async () => {
    const client = await openRawClient(gateway.port);
    client.send("POST /system/info HTTP/1.1\r\nHost: g\r\nContent-Length: 9\r\n\r\nabc");
    await client.replies(1);
    client.socket.end();
    await client.end();
    expect((await client.replies(1)).map(({ status }) => status)).toEqual([200]);
    client.close();
  });

  test.each([
    ["is aborted", "Content-Length: 9\r\n\r\nabc"],
    ["breaks the rules", "Transfer-Encoding: chunked\r\n\r\n3\r\naOSOSOSOS"],
  ])("a call after another whose body %s when the client leaves does no harm", async (_name, rest) => {
    for (let left = 30; left > 0; left -= 1) {
      const client = await openRawClient(gateway.port);
      client.send(`GET /function/echo HTTP/1.1\r\nHost: g\r\n\r\nPOST /function/echo HTTP/1.1\r\nHost: g\r\n${rest}`);
      await client.replies(1);
      client.close();
    }
    expect((await rawRequest(gateway.port, "GET /function/echo HTTP/1.1\r\nHost: g\r\n\r\n")).status).toBe(200);
  });

  test("100 headers and a target of 8192 bytes are served", async () => {
    const target = `/function/echo?${"a".repeat(8_192 - 15)}`;
    const reply = await rawRequest(gateway.port, `GET ${target} HTTP/1.1\r\nHost: g\r\n${"X-A: 1\r\n".repeat(99)}\r\n`);
    expect(reply.status).toBe(200);
    expect(echo.requests.at(-1)?.headers["x-a"]?.split(",").length).toBe(99);
  });

  test("an idle connection is closed", async () => {
    const client = await openRawClient(gateway.port);
    await client.end(15_000);
    client.close();
  });

  test("an idle body: 408, and the function's request is aborted", async () => {
    const aborted = echo.open;
    const reply = await rawRequest(
      gateway.port,
      "POST /function/echo HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\nabc",
      15_000,
    );
    expect(reply).toMatchObject({ status: 408, closed: true });
    await expect.poll(() => echo.open).toBe(aborted);
  });

  test("a slow body is served", async () => {
    let [sent, read] = [0, 0];
    const counting = await openFunctionServer(
      (request, response) => {
        request.on("data", (chunk: Buffer) => (read += chunk.length));
        request.on("end", () => response.end("whole"));
      },
      { readBody: false },
    );
    gateway.deploy("counting", { addresses: [counting.address] });
    const client = await openRawClient(gateway.port);
    client.send("POST /function/counting HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const until = performance.now() + 2 * idleTimeout; performance.now() < until; sent += 1) {
      client.send("1\r\na\r\n");
      await eventually(() => read > sent, { what: "the byte to reach the function" });
    }
    client.send("0\r\n\r\n");
    expect((await client.replies(1))[0]).toMatchObject({ status: 200, body: "whole" });
    expect(read).toBe(sent);
    client.close();
    await counting.close();
  });

  test("200 slow clients are aborted and delay no others", async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => openRawClient(gateway.port)));
    clients.forEach((client, index) => {
      if (index % 2 === 0) client.send("GET /function/echo HTTP/1.1\r\nHost");
      else client.send("POST /function/echo HTTP/1.1\r\nHost: g\r\nContent-Length: 9\r\n\r\nabc");
    });
    const isSlowOneOpen = (): boolean => clients.some(({ ended }) => !ended);
    let beside = 0;
    while (isSlowOneOpen()) {
      const reply = await fetch(`${gateway.base}/function/echo/good`);
      expect(await reply.text()).toBe("/good ");
      if (isSlowOneOpen()) beside += 1;
    }
    // A call that had to wait for them would be none of these; how fast they are is FG8's.
    expect(beside).toBeGreaterThan(0);
    for (const client of clients) expect((await client.replies(1)).map(({ status }) => status)).toEqual([408]);
    await expect.poll(() => echo.open).toBe(0);
  });

  test.each(malformedChunks)("%s: refused, closed, the function sees no whole request", async (_name, chunks) => {
    const before = echo.requests.length;
    const reply = await rawRequest(
      gateway.port,
      `POST /function/echo HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    );
    expect([400, 413]).toContain(reply.status);
    expect(reply.closed).toBe(true);
    expect(echo.requests.slice(before)).toEqual([]);
  });

  test("100 Continue is sent before the body", async () => {
    const client = await openRawClient(gateway.port);
    client.send("POST /function/echo HTTP/1.1\r\nHost: g\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    await expect.poll(() => client.text).toContain("HTTP/1.1 100 Continue");
    client.send("hi");
    expect((await client.replies(1))[0]).toMatchObject({ status: 200, body: "/ hi" });
    expect(echo.requests.at(-1)?.headers["expect"]).toBe("100-continue");
    client.close();
  });

  test.each(["/function/nope", "/system/info"])(
    "a final response in place of 100 Continue closes the connection, and says so: %s",
    async (route) => {
      const head = `POST ${route} HTTP/1.1\r\nHost: g\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
      for (const body of ["", "hi", "hiGET /function/echo/seen HTTP/1.1\r\nHost: g\r\n\r\n"]) {
        const before = echo.requests.length;
        const reply = await rawRequest(gateway.port, head + body);
        expect(reply).toMatchObject({ headers: { connection: "close" }, closed: true });
        expect(echo.requests.slice(before)).toEqual([]);
      }
    },
  );

  test("a body on a GET keeps the connection in step", async () => {
    const client = await openRawClient(gateway.port);
    const hidden = "GET /function/echo/hidden HTTP/1.1\r\nHost: g\r\n\r\n";
    for (const route of ["/system/info", "/function/echo", "/function/nope"]) {
      client.send(`GET ${route} HTTP/1.1\r\nHost: g\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`);
    }
    client.send("GET /function/echo/seen HTTP/1.1\r\nHost: g\r\n\r\n");
    const replies = await client.replies(4);
    expect(replies.map(({ status, body }) => [status, body])).toEqual([
      [200, "other"],
      [200, `/ ${hidden}`],
      [404, 'Cannot call function "nope": it does not exist\n'],
      [200, "/seen "],
    ]);
    client.close();
  });

  test("100 pipelined requests get their responses in order", async () => {
    const client = await openRawClient(gateway.port);
    const bodies = Array.from({ length: 100 }, (_, index) => "x".repeat(index));
    client.send(
      bodies
        .map(
          (body, index) =>
            `POST /function/echo/${index} HTTP/1.1\r\nHost: g\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
        .join(""),
    );
    const replies = await client.replies(100);
    expect(replies.map(({ body }) => body)).toEqual(bodies.map((body, index) => `/${index} ${body}`));
    client.close();
  });

  test("garbage after a good request: the good one is served, then the connection is closed", async () => {
    const client = await openRawClient(gateway.port);
    client.send("GET /function/echo/good HTTP/1.1\r\nHost: g\r\n\r\nNONSENSE\r\n\r\n");
    await client.end();
    const [first, ...others] = await client.replies(1);
    expect(first).toMatchObject({ status: 200, body: "/good " });
    expect(others.filter(({ status }) => status < 400)).toEqual([]);
    client.close();
  });

  test("nothing is served after Connection: close", async () => {
    const before = echo.requests.length;
    const client = await openRawClient(gateway.port);
    client.send(
      "GET /function/echo/last HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\nGET /function/echo/after HTTP/1.1\r\nHost: g\r\n\r\n",
    );
    await client.end();
    expect((await client.replies(1))[0]).toMatchObject({ status: 200, body: "/last " });
    expect(echo.requests.slice(before).map(({ target }) => target)).toEqual(["/last"]);
    client.close();
  });

  test.each([...routes, "/function/nope"])(
    "an upgrade of %s to another protocol is ignored, and the request is the last",
    async (target) => {
      const before = echo.requests.length;
      const client = await openRawClient(gateway.port);
      const head = "Host: g\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAA\r\nUpgrade: h2c\r\n";
      const after = "GET /function/echo/after HTTP/1.1\r\nHost: g\r\n\r\n";
      client.send(`POST ${target} HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\nhi${after}`);
      client.send(after);
      await client.end();
      const replies = await client.replies(1);
      expect(replies).toHaveLength(1);
      expect(replies[0]?.headers["connection"]).toBe("close");
      expect([200, 202, 404]).toContain(replies[0]?.status);
      const seen = echo.requests.slice(before);
      expect(seen.map(({ body }) => body)).toEqual(target === "/function/echo" ? ["hi"] : []);
      expect(seen[0]?.headers["upgrade"]).toBeUndefined();
    },
  );

  test.each([
    "/function/",
    "/function/.openfaas-fn",
    "/function/a.b.c",
    "/function/%2e%2e",
    "/function//echo",
    "/function/Echo",
    "/function/echo;x",
    "/function/echo%2fx",
    "/function/__proto__",
  ])("%s is 404", async (target) => {
    const reply = await rawRequest(gateway.port, `GET ${target} HTTP/1.1\r\nHost: g\r\n\r\n`);
    expect(reply.status).toBe(404);
    expect(reply.headers["x-call-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(reply.headers["x-openfaas-internal"]).toBeUndefined();
  });

  test("a first request on its way when the gateway closes is served, other connections are not waited for", async () => {
    const own = await openSyncGateway();
    own.deploy("echo", { addresses: [echo.address] });
    const [first, silent] = [await openRawClient(own.port), await openRawClient(own.port)];
    const connections = () =>
      new Promise((resolve) => own.gateway.listener.getConnections((_err, count) => resolve(count)));
    await expect.poll(connections).toBe(2);

    const closed = own.gateway.close();
    first.send("GET /function/echo/first HTTP/1.1\r\nHost: g\r\n\r\n");
    const [reply] = await first.replies(1);
    expect(reply).toMatchObject({ status: 200, body: "/first " });
    expect(reply?.headers["connection"]).toBe("close");
    await silent.end(15_000);
    await closed;
    await own.close();
  });

  test("connections that only the kernel has accepted are served when the gateway closes", async () => {
    const own = await openSyncGateway();
    own.deploy("echo", { addresses: [echo.address] });
    const sockets = Array.from({ length: 20 }, () => connect({ host: "127.0.0.1", port: own.port }));
    // They connect in the next tick, and all wait to be accepted when this turn of the event loop ends.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const closed = own.gateway.close();
    const statusLines = sockets.map(async (socket) => {
      await once(socket, "connect");
      socket.write("GET /function/echo HTTP/1.1\r\nHost: g\r\n\r\n");
      return (await text(socket)).split("\r\n")[0];
    });
    expect(await Promise.all(statusLines)).toEqual(sockets.map(() => "HTTP/1.1 200 OK"));
    await closed;
    await own.close();
  });

  test("closing sends Connection: close to requests in flight and ends idle connections at once", async () => {
    let release = (): void => {};
    const slow = await openFunctionServer((_request, response) => {
      release = () => void response.end("late");
    });
    const own = await openSyncGateway();
    own.deploy("slow", { addresses: [slow.address] });
    own.deploy("echo", { addresses: [echo.address] });
    const idle = await openRawClient(own.port);
    idle.send("GET /function/echo HTTP/1.1\r\nHost: g\r\n\r\n");
    expect((await idle.replies(1))[0]?.headers["connection"]).toBe("keep-alive");
    const busy = await openRawClient(own.port);
    busy.send("GET /function/slow HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => slow.open).toBe(1);

    own.gateway.drain();
    const draining = await rawRequest(own.port, "GET /function/echo HTTP/1.1\r\nHost: g\r\n\r\n");
    expect(draining).toMatchObject({ status: 200, closed: true });

    const closed = own.gateway.close();
    await idle.end(15_000);
    release();
    const [reply] = await busy.replies(1);
    expect(reply).toMatchObject({ status: 200, body: "late" });
    expect(reply?.headers["connection"]).toBe("close");
    await closed;
    await own.close();
    await slow.close();
  });
});
