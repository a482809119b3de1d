import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";

import { PlatformError } from "../../runtime/api/platform-error.ts";
import { openRawClient, rawRequest } from "../support/raw-client.ts";
import { freeAddress, syncFixture } from "../support/sync-fixture.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("synchronous call", () => {
  const { open, serve, serveRaw } = syncFixture();

  test("request and reply carry the headers of the contract", async () => {
    const fn = await serve((_request, response) => {
      response.writeHead(418, ["X-Own", "1", "Set-Cookie", "a=1", "Set-Cookie", "b=2", "Proxy-Secret", "x"]).end("tea");
    });
    const gateway = await open();
    gateway.deploy("hello", { namespace: "dev", addresses: [fn.address] });
    const reply = await rawRequest(
      gateway.port,
      "PUT /function/hello.dev/a%2Fb//c?x=1&y HTTP/1.1\r\nHost: public.example\r\nX-Mine: \xe9\r\nX-Forwarded-For: 6.6.6.6\r\nX-Start-Time: 5\r\nContent-Length: 2\r\nTE: trailers\r\n\r\nhi",
    );

    expect(reply).toMatchObject({ status: 418, body: "tea" });
    expect(reply.headers["x-call-id"]).toMatch(uuid);
    expect(reply.headers["x-start-time"]).toMatch(/^\d{19}$/);
    expect(reply.headers["x-duration-seconds"]).toMatch(/^\d+\.\d{6}$/);
    expect(reply.headers).toMatchObject({ "x-own": "1", "set-cookie": "a=1, b=2" });
    expect(reply.headers["proxy-secret"]).toBeUndefined();

    const [seen] = fn.requests;
    expect(seen).toMatchObject({ method: "PUT", target: "/a%2Fb//c?x=1&y", body: "hi" });
    expect(seen?.headers).toMatchObject({
      host: fn.address,
      "x-mine": "\xe9",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": "public.example",
      "x-forwarded-proto": "http",
      "x-call-id": reply.headers["x-call-id"],
      "x-start-time": reply.headers["x-start-time"],
      "content-length": "2",
    });
    expect(seen?.headers["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(seen?.headers["te"]).toBe("trailers");
  });

  test("the client's call id, trace and, on a callback, start time are kept", async () => {
    const fn = await serve((_request, response) => response.setHeader("X-Duration-Seconds", "9").end());
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    const id = "7f3a0b1c-0000-1000-8000-00000000000a";
    const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    const reply = await rawRequest(
      gateway.port,
      `POST /function/hello HTTP/1.1\r\nHost: g\r\nX-Call-Id: ${id.toUpperCase()}\r\ntraceparent: ${trace}\r\nX-Function-Status: 200\r\nX-Start-Time: 1234\r\nContent-Length: 0\r\n\r\n`,
    );
    expect(reply.headers).toMatchObject({ "x-call-id": id, "x-start-time": "1234", "x-duration-seconds": "9" });
    expect(fn.requests[0]?.headers).toMatchObject({
      "x-call-id": id,
      traceparent: trace,
      "x-start-time": "1234",
      "x-function-status": "200",
    });
  });

  test("bytes of a reply's header are unchanged, whether its body arrives at once or later", async () => {
    const head = (path: string): string => `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Own: caf\xe9 ${path}\r\n\r\n`;
    const sockets: Socket[] = [];
    const fn = await serveRaw((socket) => {
      sockets.push(socket);
      socket.write(Buffer.from(head("later"), "latin1"));
    });
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    const client = await openRawClient(gateway.port);
    client.send("GET /function/hello HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => client.text).toContain("X-Own: caf\xe9 later\r\n");
    sockets[0]?.write("ok");
    expect((await client.replies(1))[0]?.body).toBe("ok");
    client.close();
    const whole = await serveRaw(`${head("at once")}ok`);
    gateway.deploy("whole", { addresses: [whole.address] });
    const reply = await rawRequest(gateway.port, "GET /function/whole HTTP/1.1\r\nHost: g\r\n\r\n");
    expect(reply.headers["x-own"]).toBe("caf\xe9 at once");
  });

  test("HEAD, 204 and 304 have no body and keep the connection", async () => {
    const fn = await serve((request, response) => {
      const status = Number(request.url?.slice(1)) || 200;
      response
        .writeHead(status, status === 200 ? { "content-length": "5" } : {})
        .end(request.method === "HEAD" || status !== 200 ? "" : "hello");
    });
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    const client = await openRawClient(gateway.port);
    client.send("HEAD /function/hello HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => client.text).toContain("\r\n\r\n");
    expect(client.text).toContain("content-length: 5");
    expect(client.text).not.toContain("hello");
    const next = await openRawClient(gateway.port);
    for (const path of ["/204", "/304", ""]) next.send(`GET /function/hello${path} HTTP/1.1\r\nHost: g\r\n\r\n`);
    expect((await next.replies(3)).map(({ status, body }) => [status, body])).toEqual([
      [204, ""],
      [304, ""],
      [200, "hello"],
    ]);
    client.close();
    next.close();
  });

  test.each(["text/event-stream", "application/x-ndjson"])(
    "the head of %s and each event are sent at once",
    async (type) => {
      const steps: (() => void)[] = [];
      const fn = await serve((_request, response) => {
        response.writeHead(200, { "content-type": type }).flushHeaders();
        steps.push(
          () => response.write("data: 1\n\n"),
          () => response.write("data: 2\n\n"),
          () => response.end(),
        );
      });
      const gateway = await open();
      gateway.deploy("hello", { addresses: [fn.address] });
      const client = await openRawClient(gateway.port);
      client.send("GET /function/hello HTTP/1.1\r\nHost: g\r\n\r\n");
      await expect.poll(() => client.text).toContain(type);
      steps[0]?.();
      await expect.poll(() => client.text).toContain("data: 1\n\n");
      expect(client.text).not.toContain("data: 2");
      steps[1]?.();
      await expect.poll(() => client.text).toContain("data: 2\n\n");
      steps[2]?.();
      expect((await client.replies(1))[0]?.body).toBe("data: 1\n\ndata: 2\n\n");
      client.close();
    },
  );

  test("a function whose reply is not read is paused, and the call is aborted when idle", async () => {
    let written = 0;
    const fn = await serve((_request, response) => {
      const more = (): void => {
        while (response.write(Buffer.alloc(65_536))) written += 65_536;
        written += 65_536;
      };
      response.on("drain", more);
      response.on("close", () => response.removeAllListeners("drain"));
      more();
    });
    const gateway = await open({ invoker: { streamIdle: 1_500 } });
    gateway.deploy("flood", { addresses: [fn.address] });
    const client = await openRawClient(gateway.port);
    client.socket.pause();
    client.send("GET /function/flood HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => fn.aborted).toBe(1);
    expect(written).toBeLessThan(32 * 1_048_576);
    expect(gateway.counts.of("flood.functions").inFlight).toBe(0);
    await expect.poll(() => gateway.cuts).toEqual(["idle"]);
    client.close();
  });

  test("a client that leaves ends the function's request", async () => {
    const fn = await serve(() => {});
    const gateway = await open();
    gateway.deploy("slow", { addresses: [fn.address] });
    const clients = await Promise.all(Array.from({ length: 200 }, () => openRawClient(gateway.port)));
    // Half of them pipeline a second request, which does not begin before the first has its response.
    clients.forEach((client, index) =>
      client.send("GET /function/slow HTTP/1.1\r\nHost: g\r\n\r\n".repeat(1 + (index % 2))),
    );
    await expect.poll(() => fn.open).toBe(200);
    for (const client of clients) client.close();
    await expect.poll(() => fn.open).toBe(0);
    expect(fn.aborted).toBe(200);
    await expect.poll(() => gateway.counts.of("slow.functions").inFlight).toBe(0);
    expect(gateway.table.findKey("slow")?.replicas[0]?.inFlight).toBe(0);
  });

  test("a client that aborts its upload leaves no whole request behind", async () => {
    const fn = await serve();
    const gateway = await open();
    gateway.deploy("hello", { addresses: [fn.address] });
    const client = await openRawClient(gateway.port);
    client.send("POST /function/hello HTTP/1.1\r\nHost: g\r\nContent-Length: 1000\r\n\r\nhalf");
    await expect.poll(() => fn.open).toBe(1);
    client.close();
    await expect.poll(() => fn.open).toBe(0);
    expect(fn.requests).toEqual([]);
    const chunked = await openRawClient(gateway.port);
    chunked.send("POST /function/hello HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
    await expect.poll(() => fn.open).toBe(1);
    chunked.close();
    await expect.poll(() => fn.open).toBe(0);
    expect(fn.requests).toEqual([]);
  });

  test("504 names the limit before the reply's head; after it an idle connection is aborted", async () => {
    const fn = await serve((request, response) => {
      if (request.url === "/begun") response.write("begun");
    });
    const gateway = await open({ upstreamTimeout: 1_000, invoker: { streamIdle: 1_000 } });
    gateway.deploy("slow", { addresses: [fn.address] });
    gateway.deploy("own", { addresses: [fn.address], envVars: { exec_timeout: "0s" } });
    const [late, begun] = await Promise.all([
      rawRequest(gateway.port, "GET /function/slow HTTP/1.1\r\nHost: g\r\n\r\n"),
      openRawClient(gateway.port).then(async (client) => {
        client.send("GET /function/slow/begun HTTP/1.1\r\nHost: g\r\n\r\n");
        await client.end();
        return client.text;
      }),
    ]);
    expect(late.status).toBe(504);
    expect(late.body).toBe('Cannot call function "slow.functions": no reply within upstream_timeout of 1 s\n');
    expect(late.headers).toMatchObject({ "x-openfaas-internal": "gateway", "x-call-id": expect.stringMatching(uuid) });
    expect(begun).toContain("begun");
    expect(begun).not.toContain("\r\n0\r\n");
    await expect.poll(() => fn.open).toBe(0);
    const ended = [...gateway.counts.ended()].map(([{ code }, { count }]) => `${code} ${count}`);
    expect(ended).toEqual(["504 2"]);
    await expect.poll(() => gateway.cuts).toEqual(["idle"]);
  });

  test("all callers of a function at zero wait for it, with one scale-up", async () => {
    const fn = await serve();
    const gateway = await open();
    gateway.deploy("cold", { replicas: 0 });
    const replies = Promise.all(
      Array.from({ length: 300 }, () =>
        rawRequest(gateway.port, "POST /function/cold HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\n\r\nhi"),
      ),
    );
    await expect.poll(() => gateway.waker.waitingCallers).toBe(300);
    expect(gateway.counts.of("cold.functions").inFlight).toBe(300);
    gateway.setReplicas("cold", [fn.address]);
    expect((await replies).every(({ status, body }) => status === 200 && body === "ok")).toBe(true);
    expect(gateway.store.writes).toBe(1);
    expect(fn.requests.every(({ body }) => body === "hi")).toBe(true);
  });

  test("503 when no replica comes, and no wait for a client that left", async () => {
    const gateway = await open({ wakeTimeout: 2_000 });
    gateway.deploy("cold", { replicas: 0 });
    const leaving = await openRawClient(gateway.port);
    leaving.send("GET /function/cold HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => gateway.waker.waitingCallers).toBe(1);
    leaving.close();
    await expect.poll(() => gateway.waker.waitingCallers).toBe(0);
    const reply = await rawRequest(gateway.port, "GET /function/cold HTTP/1.1\r\nHost: g\r\n\r\n");
    expect(reply).toMatchObject({
      status: 503,
      body: 'Cannot wake function "cold.functions": no replica ready after 2 s\n',
    });
    expect(reply.headers).toMatchObject({ "retry-after": "5", "x-openfaas-internal": "gateway" });
  });

  test("a refusing replica is skipped once, with the whole body; refused by the only one is 502", async () => {
    const fn = await serve();
    const nobody = await freeAddress();
    const gateway = await open();
    gateway.deploy("hello", { addresses: [nobody, fn.address] });
    for (let round = 0; round < 4; round += 1) {
      const reply = await rawRequest(
        gateway.port,
        "POST /function/hello HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\n\r\nwhole",
      );
      expect(reply.status).toBe(200);
    }
    expect(fn.requests.map(({ body }) => body)).toEqual(Array.from({ length: 4 }, () => "whole"));
    expect(gateway.table.findKey("hello")?.replicas.map(({ inFlight }) => inFlight)).toEqual([0, 0]);

    gateway.setReplicas("hello", [nobody]);
    const refused = await rawRequest(gateway.port, "GET /function/hello HTTP/1.1\r\nHost: g\r\n\r\n");
    expect(refused).toMatchObject({
      status: 502,
      body: 'Cannot call function "hello.functions": the connection was refused\n',
    });
    expect(refused.headers["x-openfaas-internal"]).toBe("gateway");
  });

  test("429 when all replicas are at concurrency.max", async () => {
    const pending: (() => void)[] = [];
    const fn = await serve((_request, response) => void pending.push(() => response.end("ok")));
    const gateway = await open();
    gateway.deploy("one", { addresses: [fn.address], annotations: { "com.service.concurrency.max": "1" } });
    const first = rawRequest(gateway.port, "GET /function/one HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => fn.open).toBe(1);
    const second = await rawRequest(gateway.port, "GET /function/one HTTP/1.1\r\nHost: g\r\n\r\n");
    expect(second.status).toBe(429);
    expect(second.headers["retry-after"]).toBe("1");
    expect(second.headers["x-openfaas-internal"]).toBeUndefined();
    pending[0]?.();
    expect((await first).status).toBe(200);
  });

  test("a protected function needs credentials, and never sees them", async () => {
    const fn = await serve();
    const gateway = await open({
      invoker: {
        authorise: ({ authorization }) => {
          if (authorization !== "Basic good")
            throw new PlatformError("credentials_invalid", "Cannot call: credentials are wrong");
        },
        isPlatformCredential: (authorization) => authorization === "Basic good",
      },
    });
    gateway.deploy("secret", { addresses: [fn.address], annotations: { "com.service.auth": "required" } });
    gateway.deploy("open", { addresses: [fn.address] });
    const call = (name: string, authorization: string) =>
      rawRequest(gateway.port, `GET /function/${name} HTTP/1.1\r\nHost: g\r\nAuthorization: ${authorization}\r\n\r\n`);
    expect((await call("secret", "Basic bad")).status).toBe(401);
    expect((await call("secret", "Basic good")).status).toBe(200);
    expect((await call("open", "Basic good")).status).toBe(200);
    expect((await call("open", "Bearer own")).status).toBe(200);
    expect(fn.requests.map(({ headers }) => headers["authorization"])).toEqual([undefined, undefined, "Bearer own"]);
  });

  test("the reply of a function that does not read the body arrives", async () => {
    const fn = await serve((_request, response) => response.writeHead(413, { connection: "close" }).end("too much"), {
      readBody: false,
    });
    const gateway = await open();
    gateway.deploy("picky", { addresses: [fn.address] });
    const client = await openRawClient(gateway.port);
    client.send(`POST /function/picky HTTP/1.1\r\nHost: g\r\nContent-Length: 100000000\r\n\r\n${"x".repeat(100_000)}`);
    expect((await client.replies(1))[0]).toMatchObject({ status: 413, body: "too much" });
    await client.end();
  });

  test("calls go to the replica with the fewest in flight", async () => {
    const first = await serve(() => {});
    const second = await serve();
    const gateway = await open();
    gateway.deploy("hello", { addresses: [first.address, second.address] });
    const waiting = await openRawClient(gateway.port);
    waiting.send("GET /function/hello HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => first.open).toBe(1);
    for (let round = 0; round < 5; round += 1)
      await rawRequest(gateway.port, "GET /function/hello HTTP/1.1\r\nHost: g\r\n\r\n");
    expect(second.requests.length).toBe(5);
    waiting.close();
  });
});
