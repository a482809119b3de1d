import { once } from "node:events";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { FastServer } from "../../runtime/gateway/fast-path/fast-server.ts";
import type { FastPathParts } from "../../runtime/gateway/fast-path/fast-path.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openRawClient, type RawClient, type RawReply } from "../support/raw-client.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";

/** Two blanks make a request one that node:http reads. */
const longWay = "X-Way:  long\r\n";
const shortWay = "X-Way: short\r\n";

describe("calls past node:http", () => {
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
    gateway = await openSyncGateway({ server: { headersTimeout: 1_000, bodySilence: 1_000 } });
    gateway.deploy("echo", { addresses: [echo.address] });
  });
  afterAll(async () => {
    await gateway.close();
    await echo.close();
  });

  async function open(): Promise<RawClient> {
    const client = await openRawClient(gateway.port);
    onTestFinished(() => client.close());
    return client;
  }

  /** What differs from call to call. */
  function comparable({ status, headers, body }: RawReply): unknown {
    const { date, "x-call-id": _id, "x-start-time": _start, "x-duration-seconds": _duration, ...rest } = headers;
    const names = Object.keys(headers);
    return { status, rest, names, body: body.replaceAll(/[0-9a-f-]{36}/g, "ID"), date: date?.slice(0, 4) };
  }

  test.each([
    ["GET", "/function/echo", ""],
    ["GET", "/function/echo/a%20b?c=d", ""],
    ["POST", "/function/echo", "body"],
    ["PUT", "/function/echo", "x".repeat(20_000)],
    ["DELETE", "/function/echo/empty", ""],
    ["GET", "/function/echo/same", ""],
    ["PATCH", "/function/echo/chunks", "abc"],
    ["GET", "/function/echo/dated", ""],
    ["GET", "/function/echo/long", ""],
    ["GET", "/function/echo/broken", ""],
    ["GET", "/function/nope", ""],
    ["POST", "/function/nope", "abc"],
    ["GET", "/function/%2e%2e", ""],
  ])("%s %s is answered the same by both ways, and the function gets the same", async (method, target, body) => {
    const before = echo.requests.length;
    const replies: RawReply[] = [];
    const length = body === "" ? "" : `Content-Length: ${body.length}\r\n`;
    for (const way of [shortWay, longWay]) {
      for (const accept of ["*/*", "application/json"]) {
        const client = await open();
        const call = `${method} ${target} HTTP/1.1\r\nHost: g\r\nAccept: ${accept}\r\n${way}${length}\r\n${body}`;
        client.send(call);
        await client.replies(1);
        // What came before is not read again.
        client.send(call);
        const [reply, again] = await client.replies(2);
        if (reply === undefined || again === undefined) throw new Error("a reply is missing");
        expect(comparable(again)).toEqual(comparable(reply));
        expect(again.headers["x-call-id"]).not.toBe(reply.headers["x-call-id"]);
        replies.push(reply);
      }
    }
    const [shortText, shortJson, longText, longJson] = replies.map(comparable);
    expect(shortText).toEqual(longText);
    expect(shortJson).toEqual(longJson);
    expect(replies[0]?.headers["connection"]).toBe("keep-alive");
    const seen = echo.requests.slice(before).map((request) => ({
      ...request,
      headers: undefined,
      rawHeaders: request.rawHeaders.map((text) => text.replaceAll(/[0-9a-f-]{16,}|\d{9,}|short|long/g, "…")),
    }));
    expect(seen.slice(0, seen.length / 2)).toEqual(seen.slice(seen.length / 2));
  });

  test("a connection takes the long way from the first request on that is not plain, and loses nothing", async () => {
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

  test.each([shortWay, longWay])(
    "requests that come before the last one is answered wait their turn: %j",
    async (way) => {
      const client = await open();
      const one = (name: string): string =>
        `POST /function/echo/${name} HTTP/1.1\r\nHost: g\r\n${way}Content-Length: 1\r\n\r\nx`;
      client.send(one("chunks"));
      await expect.poll(() => echo.requests.at(-1)?.target).toBe("/chunks");
      client.send(one("a").slice(0, 20));
      client.send(one("a").slice(20) + one("b"));
      client.send(one("c"));
      const replies = await client.replies(4);
      expect(replies.map(({ body }) => body)).toEqual(["x,x", "POST /a x", "POST /b x", "POST /c x"]);
    },
  );

  test("a client that leaves takes its call with it", async () => {
    const held = await openFunctionServer(() => {});
    gateway.deploy("held", { addresses: [held.address] });
    const client = await open();
    client.send("GET /function/held HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => held.open).toBe(1);
    client.close();
    await expect.poll(() => held.open).toBe(0);
    await held.close();
  });

  test("a connection on which nothing comes is closed without a word", async () => {
    const client = await open();
    await client.end(4_000);
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
  /** Bytes that repeat only after a prime number of them, so that a piece in a wrong place shows. */
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
          const goOn = (): void => void request.resume();
          if (full) response.once("drain", goOn);
          else setImmediate(goOn);
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

describe("a server with a short way", () => {
  async function openServer(parts: Partial<FastPathParts>): Promise<{ server: FastServer; port: number }> {
    const server = new FastServer({}, (_request, response) => response.end("long"), {
      handle: (_request, response) => {
        response.writeHead(200, { "Content-Length": "5" }).end("short");
        return true;
      },
      headersTimeout: 60_000,
      keepAlive: 60_000,
      silence: 60_000,
      ...parts,
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    return { server, port: (server.address() as AddressInfo).port };
  }

  const call = "GET /function/a HTTP/1.1\r\nHost: g\r\n\r\n";

  test("closes a connection that rests for longer than it says", async () => {
    const { port } = await openServer({ keepAlive: 1_000 });
    const client = await openRawClient(port);
    onTestFinished(() => client.close());
    client.send(call);
    const [reply] = await client.replies(1);
    expect(reply).toMatchObject({ body: "short", headers: { "keep-alive": "timeout=1" } });
    await client.end(5_000);
  });

  test("gives node:http what is not taken", async () => {
    const { port } = await openServer({ handle: () => false });
    const client = await openRawClient(port);
    onTestFinished(() => client.close());
    client.send(call);
    expect((await client.replies(1))[0]?.body).toBe("long");
  });

  test("closes idle connections when it is told to, and those alone", async () => {
    let answer: (() => void) | undefined;
    const { server, port } = await openServer({
      handle: (request, response) => {
        const end = (): void => void response.writeHead(200, { "Content-Length": "0" }).end();
        if (request.url === "/function/wait") answer = end;
        else end();
        return true;
      },
    });
    const [idle, busy] = [await openRawClient(port), await openRawClient(port)];
    onTestFinished(() => (idle.close(), busy.close()));
    idle.send(call);
    await idle.replies(1);
    busy.send(call.replace("/a", "/wait"));
    await expect.poll(() => answer).toBeDefined();
    server.closeIdleConnections();
    await idle.end(1_000);
    answer?.();
    expect((await busy.replies(1))[0]?.status).toBe(200);
  });
});
