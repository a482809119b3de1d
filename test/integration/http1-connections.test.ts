import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openRawClient, rawRequest, type RawClient } from "../support/raw-client.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

describe("connections of HTTP/1.1", () => {
  let gateway: SyncGateway;
  let echo: FunctionServer;

  beforeAll(async () => {
    echo = await openFunctionServer((request, response, body) => {
      const [, kind = ""] = /^\/([a-z]*)/.exec(request.url ?? "") ?? [];
      switch (kind) {
        case "empty":
          response.writeHead(204, { "X-A": "1" }).end();
          break;
        case "same":
          response.writeHead(304, { ETag: '"a"' }).end();
          break;
        case "chunks":
          response.write(body);
          setImmediate(() => response.end(`,${body}`));
          break;
        case "dated":
          response.writeHead(200, { Date: "Thu, 01 Jan 1970 00:00:00 GMT", "Content-Length": "2" }).end("ok");
          break;
        case "long":
          response.end("x".repeat(300_000));
          break;
        case "broken":
          response.socket?.end("HTTP/1.1 200 OK\r\nContent-Length: no\r\n\r\n");
          break;
        default:
          response.setHeader("Set-Cookie", ["a=1", "b=\xe9"]);
          response.end(`${request.method} ${request.url} ${body}`);
      }
    });
    gateway = await openSyncGateway({ server: { headersTimeout: 1_000, bodyIdleTimeout: 1_000 } });
    gateway.deploy("echo", { addresses: [echo.address] });
  });
  afterAll(async () => {
    await gateway?.close();
    await echo?.close();
  });

  async function open(): Promise<RawClient> {
    const client = await openRawClient(gateway.port);
    onTestFinished(() => client.close());
    return client;
  }

  test("a connection continues after each kind of body, and loses nothing", async () => {
    const client = await open();
    const before = echo.requests.length;
    client.send("POST /function/echo/1 HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\n\r\na");
    await client.replies(1);
    client.send("POST /function/echo/2 HTTP/1.1\r\nHost: g\r\nContent-Length: 4\r\n\r\nab");
    await expect.poll(() => echo.open).toBe(1);
    client.send("cd");
    await client.replies(2);
    client.send("POST /function/echo/3 HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nef\r\n0\r\n\r\n");
    await client.replies(3);
    client.send("GET /function/echo/4 HTTP/1.1\r\nHost: g\r\n\r\n");
    const replies = await client.replies(4);
    expect(replies.map(({ body }) => body)).toEqual(["POST /1 a", "POST /2 abcd", "POST /3 ef", "GET /4 "]);
    expect(echo.requests.length - before).toBe(4);
  });

  test("requests that arrive before the last reply wait their turn", async () => {
    const client = await open();
    const one = (name: string): string =>
      `POST /function/echo/${name} HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\n\r\nx`;
    client.send(one("chunks"));
    await expect.poll(() => echo.requests.at(-1)?.target).toBe("/chunks");
    client.send(one("a").slice(0, 20));
    client.send(one("a").slice(20) + one("b"));
    client.send(one("c"));
    const replies = await client.replies(4);
    expect(replies.map(({ body }) => body)).toEqual(["x,x", "POST /a x", "POST /b x", "POST /c x"]);
  });

  test("pipelined POSTs do not overtake each other, however long each takes", async () => {
    const order: string[] = [];
    const slow = await openFunctionServer((request, response) => {
      order.push(`${request.url} begins`);
      setTimeout(
        () => {
          order.push(`${request.url} ends`);
          response.end();
        },
        request.url === "/0" ? 150 : 0,
      );
    });
    onTestFinished(() => slow.close());
    gateway.deploy("slow", { addresses: [slow.address] });
    const client = await open();
    const post = (index: number): string =>
      `POST /function/slow/${index} HTTP/1.1\r\nHost: g\r\nContent-Length: 1\r\n\r\nx`;
    client.send(post(0) + post(1));
    // The last one arrives separately, while the first is in flight.
    await expect.poll(() => order.length).toBe(1);
    client.send(post(2));
    await client.replies(3);
    expect(order).toEqual([0, 1, 2].flatMap((index) => [`/${index} begins`, `/${index} ends`]));
  });

  test("more than may arrive before its turn waits, and nothing is lost", async () => {
    const client = await open();
    const size = 300_000;
    const post = (name: string, length: number): string =>
      `POST /function/echo/${name} HTTP/1.1\r\nHost: g\r\nContent-Length: ${length}\r\n\r\n`;
    client.send(`${post("chunks", 1)}x`);
    await expect.poll(() => echo.requests.at(-1)?.target).toBe("/chunks");
    client.send(post("large", size));
    for (let sent = 0; sent < size; sent += 10_000) client.send("y".repeat(10_000));
    client.send(`${post("last", 1)}z`);
    const replies = await client.replies(3);
    expect(replies.map(({ body }) => body.length)).toEqual([3, "POST /large ".length + size, "POST /last z".length]);
  });

  const call = (name: string): string => `GET /function/echo/${name} HTTP/1.1\r\nHost: g\r\n\r\n`;
  test.each([
    ["an invalid head", "NONSENSE\r\n\r\n", 400],
    ["a head that breaks a rule", "GET /function/echo HTTP/1.1\r\nHost: g\r\nHost: g\r\n\r\n", 400],
    ["a method that is not allowed", "TRACE /function/echo HTTP/1.1\r\nHost: g\r\n\r\n", 405],
    ["invalid chunks", "POST /function/echo HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n", 400],
    ["a wrong request of the REST API", "GET /system/info HTTP/1.1\r\nHost: g/\r\n\r\n", 400],
  ])("requests before %s are served, nothing after it is", async (_name, wrong, status) => {
    const client = await open();
    const before = echo.requests.length;
    client.send(call("1") + call("chunks") + call("2") + wrong + call("never") + call("neither"));
    await client.end();
    const replies = await client.replies(4);
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, status]);
    expect(replies.at(-1)?.headers["connection"]).toBe("close");
    expect(echo.requests.slice(before).map(({ target }) => target)).toEqual(["/1", "/chunks", "/2"]);
  });

  test("what follows a wrong request in a separate write is not served either", async () => {
    const client = await open();
    const before = echo.requests.length;
    client.send("GET /function/echo HTTP/1.1\r\nHost: g g\r\n\r\n");
    client.send(call("never"));
    await client.end();
    expect((await client.replies(1)).map((reply) => reply.status)).toEqual([400]);
    expect(echo.requests.length).toBe(before);
  });

  test.each([
    ["unknown function", "HEAD /function/nope HTTP/1.1\r\nHost: g\r\n\r\n", 404],
    ["bad function", "HEAD /function/echo/broken HTTP/1.1\r\nHost: g\r\n\r\n", 502],
    ["wrong host", "HEAD /function/echo HTTP/1.1\r\nHost: a b\r\n\r\n", 400],
    ["invalid header", "HEAD /function/echo HTTP/1.1\r\nHost: g\r\nA : 1\r\n\r\n", 400],
    ["head that is too large", `HEAD /function/echo HTTP/1.1\r\nHost: g\r\nA: ${"a".repeat(17_000)}\r\n\r\n`, 431],
    ["REST API", "HEAD /system/info HTTP/1.1\r\nHost: g\r\n\r\n", 200],
    ["asynchronous call", "HEAD /async-function/nope HTTP/1.1\r\nHost: g\r\n\r\n", undefined],
  ])("the response to HEAD has no body: %s", async (_name, bytes, status) => {
    const client = await open();
    client.send(bytes.replace("Host: g\r\n", "Host: g\r\nConnection: close\r\n"));
    await client.end();
    const { text } = client;
    if (status !== undefined) expect(text).toContain(`HTTP/1.1 ${status} `);
    expect(text.indexOf("\r\n\r\n")).toBe(text.length - 4);
  });

  test.each([
    ["GET /function/echo RTSP/1.0", 400],
    ["OPTIONS /function/echo RTSP/1.0", 400],
    ["SOURCE /function/echo ICE/1.0", 400],
    ["GET  /function/echo HTTP/1.1", 400],
    ["GET /function/echo  HTTP/1.1", 400],
    ["GET /function/echo HTTP/1.1 ", 400],
    ["GET\t/function/echo HTTP/1.1", 400],
    ["\r\nGET /function/echo HTTP/1.1", 400],
    ["\nGET /function/echo HTTP/1.1", 400],
    ["SOURCE /function/echo HTTP/1.1", 405],
    ["PURGE /function/echo HTTP/1.1", 405],
    ["M-SEARCH /function/echo HTTP/1.1", 405],
    ["DESCRIBE /function/echo HTTP/1.1", 405],
    ["QUERY /function/echo HTTP/1.1", 200],
    ["PROPFIND /function/echo HTTP/1.1", 200],
  ])("%j gets %i", async (line, status) => {
    const client = await open();
    client.send(`${line}\r\nHost: g\r\n\r\n`);
    expect((await client.replies(1))[0]?.status).toBe(status);
    if (status === 200) {
      client.send(call("next"));
      expect((await client.replies(2))[1]).toMatchObject({ status: 200, body: "GET /next " });
    } else await client.end();
  });

  test.each([
    "g",
    "g:",
    "g:80",
    "gateway.weir.svc.cluster.local.:8080",
    "[::1]:8080",
    "[v1.a:b]",
    "a%20b",
    "a_b~c!$&'()*+,;=",
    "",
  ])("Host %j is accepted", async (host) => {
    expect((await rawRequest(gateway.port, `GET /function/echo HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status).toBe(200);
  });

  test.each([
    "a b",
    "a/b",
    "a?b",
    "a#b",
    "u@h",
    "a\\b",
    "[::1",
    "::1",
    "[g]",
    "[fe80::1%25eth0]",
    "a:b",
    "a:80:80",
    "%zz",
    'a"b',
    "<g>",
    "\xe9",
  ])("Host %j is 400", async (host) => {
    const reply = await rawRequest(gateway.port, `GET /function/echo HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect(reply).toMatchObject({ status: 400, closed: true });
  });

  test("HTTP/1.0 gets no chunks, and is closed unless it asks to be kept", async () => {
    const get = "GET /function/echo/chunks HTTP/1.0\r\nHost: g\r\n";
    const stream = await rawRequest(gateway.port, `POST${get.slice(3)}Content-Length: 1\r\n\r\nx`);
    expect(stream).toMatchObject({ status: 200, body: "x,x", closed: true, headers: { connection: "close" } });
    expect(stream.headers["transfer-encoding"]).toBeUndefined();
    const client = await open();
    for (let count = 1; count <= 2; count += 1) {
      client.send("GET /function/echo HTTP/1.0\r\nHost: g\r\nConnection: keep-alive\r\n\r\n");
      expect((await client.replies(count))[count - 1]).toMatchObject({
        status: 200,
        headers: { connection: "keep-alive" },
      });
    }
    // The REST API gives such clients no length: nothing may follow, kept or not.
    for (const wish of ["", "Connection: keep-alive\r\n"]) {
      const request = `GET /system/info HTTP/1.0\r\nHost: g\r\n${wish}\r\n`;
      const { status, closed, body } = await rawRequest(gateway.port, request + request);
      expect([status, closed, body.match(/HTTP\/1\.1/)]).toEqual([200, true, null]);
    }
  });

  test("a client that leaves ends its call", async () => {
    const held = await openFunctionServer(() => {});
    gateway.deploy("held", { addresses: [held.address] });
    const client = await open();
    client.send("GET /function/held HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => held.open).toBe(1);
    client.close();
    await expect.poll(() => held.open).toBe(0);
    await held.close();
  });

  const chunk = `8000\r\n${"x".repeat(32_768)}\r\n`;
  test.each([
    ["with a length", "Content-Length: 327680", "x".repeat(327_680)],
    ["in chunks", "Transfer-Encoding: chunked", `${chunk.repeat(10)}0\r\n\r\n`],
  ])("the rest of a body %s is discarded: a connection announced as kept is kept", async (_, framing, body) => {
    const client = await open();
    // This server replies at once, without waiting for the body.
    client.send(`POST /system/info HTTP/1.1\r\nHost: g\r\n${framing}\r\n\r\n${body.slice(0, 100)}`);
    expect((await client.replies(1))[0]).toMatchObject({ status: 200, headers: { connection: "keep-alive" } });
    client.send(body.slice(100) + call("next"));
    expect((await client.replies(2))[1]).toMatchObject({ status: 200, body: "GET /next " });
  });

  test("at most a mebibyte of an endless body is discarded", async () => {
    // Not with the short timeouts above: they would end this body as well.
    const patient = await openSyncGateway({ server: { headersTimeout: 300_000, bodyIdleTimeout: 300_000 } });
    onTestFinished(() => patient.close());
    const client = await openRawClient(patient.port);
    onTestFinished(() => client.close());
    client.send("POST /system/info HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n");
    await client.replies(1);
    client.send(chunk.repeat(40));
    await client.end();
  });

  test("an idle connection is closed without a response", async () => {
    const client = await open();
    await client.end(15_000);
    expect(client.text).toBe("");
  });

  test("a large reply waits for its reader", async () => {
    const client = await open();
    client.socket.pause();
    for (let count = 0; count < 20; count += 1) {
      client.send("GET /function/echo/long HTTP/1.1\r\nHost: g\r\n\r\n");
    }
    client.socket.resume();
    const replies = await client.replies(20);
    expect(replies.map(({ body }) => body.length)).toEqual(Array.from({ length: 20 }, () => 300_000));
  });
});

describe("large bodies", () => {
  /** Bytes that repeat after a prime number of them, so a chunk in a wrong place shows. */
  const pattern = Buffer.from(Array.from({ length: 65_537 }, (_, index) => (index * 31) % 251));
  const size = 16 * 1_048_576;
  const whole = Buffer.alloc(size, pattern);

  test.each([
    ["a function that reads on", 0],
    ["a function that pauses", 40],
  ])("of several calls at once arrive byte for byte both ways, with %s", async (_which, pauses) => {
    const fn = await openFunctionServer(
      (request, response) => {
        response.setHeader("Content-Length", size);
        let left = pauses;
        request.on("data", (chunk: Buffer) => {
          const full = !response.write(chunk);
          if (!full && left === 0) return;
          left = Math.max(0, left - 1);
          request.pause();
          const resume = (): void => void request.resume();
          if (full) response.once("drain", resume);
          else setImmediate(resume);
        });
        request.on("end", () => response.end());
      },
      { readBody: false },
    );
    const own = await openSyncGateway();
    own.deploy("echo", { addresses: [fn.address] });
    const calls = Array.from({ length: 4 }, async () => {
      const reply = await fetch(`${own.base}/function/echo`, { method: "POST", body: whole });
      return Buffer.from(await reply.arrayBuffer()).equals(whole);
    });
    expect(await Promise.all(calls)).toEqual([true, true, true, true]);
    await own.close();
    await fn.close();
  });
});
