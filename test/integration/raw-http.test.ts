import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openRawClient, rawRequest } from "../support/raw-client.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

const routes = ["/function/echo", "/async-function/echo", "/system/info"] as const;

describe("raw HTTP", () => {
  let gateway: SyncGateway;
  let echo: FunctionServer;

  beforeAll(async () => {
    echo = await openFunctionServer((request, response, body) => response.end(`${request.url} ${body}`));
    gateway = await openSyncGateway({ server: { headersTimeout: 1_000, bodySilence: 1_000 } });
    gateway.deploy("echo", { addresses: [echo.address] });
  });
  afterAll(async () => {
    await gateway.close();
    await echo.close();
  });

  const malformed: readonly (readonly [string, string])[] = [
    [
      "length and chunked",
      "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["another coding", "POST T HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
    ["identity before chunked", "POST T HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n"],
    [
      "chunked in two headers",
      "POST T HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["space before the colon", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length : 3\r\n\r\nabc"],
    ["two lengths", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"],
    ["two equal lengths", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"],
    ["list of lengths", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: 3, 3\r\n\r\nabc"],
    ["length -1", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: -1\r\n\r\n"],
    ["length +1", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: +1\r\n\r\na"],
    ["bare LF", "GET T HTTP/1.1\nHost: g\n\n"],
    ["bare LF after a value", "GET T HTTP/1.1\r\nHost: g\r\nX-A: 1\nX-B: 2\r\n\r\n"],
    ["NUL in a value", "GET T HTTP/1.1\r\nHost: g\r\nX-A: 1\0\r\n\r\n"],
    ["lone CR in a value", "GET T HTTP/1.1\r\nHost: g\r\nX-A: 1\r2\r\n\r\n"],
    ["folded header", "GET T HTTP/1.1\r\nHost: g\r\nX-A: 1\r\n 2\r\n\r\n"],
    ["no Host", "GET T HTTP/1.1\r\nX-A: 1\r\n\r\n"],
    ["two Host", "GET T HTTP/1.1\r\nHost: g\r\nHost: g\r\n\r\n"],
    ["two Authorization", "GET T HTTP/1.1\r\nHost: g\r\nAuthorization: Basic a\r\nAuthorization: Basic b\r\n\r\n"],
    ["two X-Call-Id", "GET T HTTP/1.1\r\nHost: g\r\nX-Call-Id: a\r\nx-call-id: b\r\n\r\n"],
    ["two X-Callback-Url", "GET T HTTP/1.1\r\nHost: g\r\nX-Callback-Url: a\r\nX-Callback-Url: b\r\n\r\n"],
    [
      "Connection names Content-Length",
      "POST T HTTP/1.1\r\nHost: g\r\nConnection: content-length\r\nContent-Length: 1\r\n\r\na",
    ],
    ["absolute target", "GET http://elsewhereT HTTP/1.1\r\nHost: g\r\n\r\n"],
    ["fragment in the target", "GET T#x HTTP/1.1\r\nHost: g\r\n\r\n"],
    ["space in the target", "GET T x HTTP/1.1\r\nHost: g\r\n\r\n"],
    ["byte above ASCII in the target", "GET T/\xe9 HTTP/1.1\r\nHost: g\r\n\r\n"],
    ["asterisk target", "OPTIONS * HTTP/1.1\r\nHost: g\r\n\r\n"],
    ["made-up method", "FROBNICATE T HTTP/1.1\r\nHost: g\r\n\r\n"],
    ["no HTTP at all", "\x16\x03\x01hello\r\n\r\n"],
    ["HTTP/3.0", "GET T HTTP/3.0\r\nHost: g\r\n\r\n"],
  ];

  describe.each(routes)("%s", (route) => {
    test.each(malformed)("%s: 400, closed, nothing after it is served", async (_name, bytes) => {
      const before = echo.requests.length;
      const client = await openRawClient(gateway.port);
      client.send(
        `${bytes.replaceAll("T ", `${route} `).replaceAll("T/", `${route}/`).replaceAll("T#", `${route}#`)}GET /function/echo/after HTTP/1.1\r\nHost: g\r\n\r\n`,
      );
      await client.end();
      const replies = await client.replies(1);
      client.close();

      expect(replies.map(({ status }) => status)).toEqual([400]);
      expect(replies[0]?.headers["connection"]).toBe("close");
      expect(echo.requests.slice(before)).toEqual([]);
    });

    test.each([
      ["TRACE", 405, `TRACE ${route} HTTP/1.1\r\nHost: g\r\n\r\n`],
      ["CONNECT", 405, "CONNECT g:443 HTTP/1.1\r\nHost: g:443\r\n\r\n"],
      ["101 headers", 431, `GET ${route} HTTP/1.1\r\nHost: g\r\n${"X-A: 1\r\n".repeat(100)}\r\n`],
      ["a head of 17 KiB", 431, `GET ${route} HTTP/1.1\r\nHost: g\r\nX-A: ${"a".repeat(17_000)}\r\n\r\n`],
      ["a target of 8193 bytes", 414, `GET ${route}?${"a".repeat(8_192 - route.length)} HTTP/1.1\r\nHost: g\r\n\r\n`],
      ["Expect: 200-ok", 417, `GET ${route} HTTP/1.1\r\nHost: g\r\nExpect: 200-ok\r\n\r\n`],
    ])("%s: %i, closed", async (_name, status, bytes) => {
      const reply = await rawRequest(gateway.port, bytes);
      expect(reply).toMatchObject({ status, closed: true });
      expect(reply.headers["connection"]).toBe("close");
      expect(reply.headers["x-content-type-options"]).toBe("nosniff");
      expect(reply.headers["allow"] !== undefined).toBe(status === 405);
    });

    test("a head that does not come to its end: 408", async () => {
      const reply = await rawRequest(gateway.port, `GET ${route} HTTP/1.1\r\nHost:`, 6_000);
      expect(reply).toMatchObject({ status: 408, closed: true });
    });
  });

  test("100 headers and a target of 8192 bytes are served", async () => {
    const target = `/function/echo?${"a".repeat(8_192 - 15)}`;
    const reply = await rawRequest(gateway.port, `GET ${target} HTTP/1.1\r\nHost: g\r\n${"X-A: 1\r\n".repeat(99)}\r\n`);
    expect(reply.status).toBe(200);
    expect(echo.requests.at(-1)?.headers["x-a"]?.split(",").length).toBe(99);
  });

  test("a connection on which nothing comes is closed", async () => {
    const client = await openRawClient(gateway.port);
    await client.end(6_000);
    client.close();
  });

  test("a body that stops coming: 408, and the function's request is aborted", async () => {
    const aborted = echo.open;
    const reply = await rawRequest(
      gateway.port,
      "POST /function/echo HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\nabc",
      6_000,
    );
    expect(reply).toMatchObject({ status: 408, closed: true });
    await expect.poll(() => echo.open).toBe(aborted);
  });

  test("a body that drips is served", async () => {
    const client = await openRawClient(gateway.port);
    client.send("POST /function/echo HTTP/1.1\r\nHost: g\r\nContent-Length: 4\r\n\r\n");
    for (const byte of "abcd") {
      await new Promise((resolve) => setTimeout(resolve, 500));
      client.send(byte);
    }
    expect((await client.replies(1))[0]).toMatchObject({ status: 200, body: "/ abcd" });
    client.close();
  });

  test("200 slow clients are cut and delay nobody", async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => openRawClient(gateway.port)));
    clients.forEach((client, index) => {
      if (index % 2 === 0) client.send("GET /function/echo HTTP/1.1\r\nHost");
      else client.send("POST /function/echo HTTP/1.1\r\nHost: g\r\nContent-Length: 9\r\n\r\nabc");
    });
    const times: number[] = [];
    while (clients.some(({ ended }) => !ended)) {
      const started = performance.now();
      const reply = await fetch(`${gateway.base}/function/echo/good`);
      expect(await reply.text()).toBe("/good ");
      times.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const client of clients) expect((await client.replies(1)).map(({ status }) => status)).toEqual([408]);
    expect(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99) - 1]).toBeLessThan(300);
    await expect.poll(() => echo.open).toBe(0);
  }, 10_000);

  test.each([
    ["chunk size 0x1", "0x1\r\na\r\n0\r\n\r\n"],
    ["chunk without its end", "1\r\nab\r\n0\r\n\r\n"],
    ["chunk extensions over 16 KiB", `1;${"a".repeat(17_000)}\r\na\r\n0\r\n\r\n`],
  ])("%s: refused, closed, the function sees no whole request", async (_name, chunks) => {
    const before = echo.requests.length;
    const reply = await rawRequest(
      gateway.port,
      `POST /function/echo HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    );
    expect([400, 413]).toContain(reply.status);
    expect(reply.closed).toBe(true);
    expect(echo.requests.slice(before)).toEqual([]);
  });

  test("Expect: 100-continue is answered before the body", async () => {
    const client = await openRawClient(gateway.port);
    client.send("POST /function/echo HTTP/1.1\r\nHost: g\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    await expect.poll(() => client.text).toContain("HTTP/1.1 100 Continue");
    client.send("hi");
    expect((await client.replies(1))[0]).toMatchObject({ status: 200, body: "/ hi" });
    expect(echo.requests.at(-1)?.headers["expect"]).toBeUndefined();
    client.close();
  });

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

  test("100 pipelined requests are answered in order", async () => {
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

  test("garbage after a good request: the good one is answered, then the connection is closed", async () => {
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

  test("Upgrade to something else is as without; WebSocket is not built", async () => {
    const head = "Host: g\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAA\r\n";
    const h2c = await rawRequest(gateway.port, `GET /function/echo HTTP/1.1\r\n${head}Upgrade: h2c\r\n\r\n`);
    expect(h2c.status).toBe(200);
    expect(echo.requests.at(-1)?.headers["upgrade"]).toBeUndefined();
    const webSocket = await rawRequest(
      gateway.port,
      "GET /function/echo HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    expect(webSocket.status).toBe(501);
  });

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

  test("closing answers what is under way with Connection: close and ends idle connections at once", async () => {
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
    await idle.end(500);
    release();
    const [reply] = await busy.replies(1);
    expect(reply).toMatchObject({ status: 200, body: "late" });
    expect(reply?.headers["connection"]).toBe("close");
    await closed;
    await own.close();
    await slow.close();
  });
});
