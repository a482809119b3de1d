import { once } from "node:events";
import { constants } from "node:http2";
import type { RequestListener } from "node:http";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";

import { beforeAll, describe, expect, test } from "vitest";

import { answeredHosts } from "../../runtime/settings/answered-hosts.ts";
import { eventually } from "../support/eventually.ts";
import { answerOf, openHttp2Client } from "../support/http2-client.ts";
import { rawRequest } from "../support/raw-client.ts";
import { selfSigned } from "../support/self-signed.ts";
import { syncFixture } from "../support/sync-fixture.ts";
import type { SyncGatewayOptions } from "../support/sync-gateway.ts";

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const uuid = "0b0e7a3e-6f0e-4d7c-9f5e-1f2a3b4c5d6e";

describe("the gateway over HTTP/2", () => {
  const fixture = syncFixture();
  let tls: { cert: Buffer; key: Buffer };
  beforeAll(async () => {
    tls = await selfSigned();
  });

  const open = async (options: SyncGatewayOptions = {}) => {
    const gateway = await fixture.open({ ...options, server: { tls, ...options.server } });
    const client = fixture.closing(await openHttp2Client(gateway.port, tls.cert));
    return { gateway, client };
  };

  test("prior knowledge without TLS gets 400 and is closed", async () => {
    const gateway = await fixture.open();
    expect(await rawRequest(gateway.port, preface)).toMatchObject({ status: 400, closed: true });
  });

  test.each(["GET", "POST", "HEAD", "OPTIONS"])(
    "%s without TLS on its port is 400 and says what to use",
    async (method) => {
      const { gateway } = await open();
      const reply = await rawRequest(gateway.port, `${method} /healthz HTTP/1.1\r\nHost: g\r\n\r\n`);
      expect(reply).toMatchObject({ status: 400, closed: true });
      expect(reply.body).toBe("Cannot read request: this port speaks HTTPS: use https:// in the address\n");
    },
  );

  test("on loopback a host that is none of the gateway's is 421, over each protocol; another port of it is not", async () => {
    const { gateway, client } = await open({ server: { answersHost: answeredHosts(["faas.example.com"]) } });
    const fn = await fixture.serve((_request, response) => response.end("called"));
    gateway.deploy("hello", { addresses: [fn.address] });
    const ask = (authority: string) => client.ask({ ":path": "/function/hello", ":authority": authority });
    expect(await ask("evil.example")).toMatchObject({ status: 421 });
    expect(await ask("faas.example.com:1")).toMatchObject({ status: 200, body: "called" });
    const plain = await fixture.open({ server: { answersHost: answeredHosts(["faas.example.com"]) } });
    plain.deploy("hello", { addresses: [fn.address] });
    for (const path of ["/function/hello", "/async-function/hello", "/system/info"]) {
      const reply = await rawRequest(plain.port, `GET ${path} HTTP/1.1\r\nHost: evil.example:${plain.port}\r\n\r\n`);
      expect(reply).toMatchObject({ status: 421, closed: true });
      expect(reply.body).toMatch(/^Cannot answer for host "evil\.example:\d+": .*allowed_hosts\n$/);
    }
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    const socket = await rawRequest(plain.port, `GET /function/hello HTTP/1.1\r\nHost: evil.example\r\n${upgrade}\r\n`);
    expect(socket).toMatchObject({ status: 421 });
    expect(fn.requests).toHaveLength(1);
  });

  test("GET and POST pass like over HTTP/1.1", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve((_request, response, body) => {
      response.writeHead(
        201,
        [
          ["X-A", "1"],
          ["X-A", "2"],
          ["Set-Cookie", "a=1"],
          ["Set-Cookie", "b=2"],
        ].flat(),
      );
      response.end(`got ${body}`);
    });
    gateway.deploy("hello", { addresses: [fn.address] });
    const reply = await client.ask(
      [":method", "POST", ":path", "/function/hello/a%2Fb?x=1", "cookie", "a=1", "cookie", "b=2", "x-call-id", uuid],
      "body",
    );
    expect(reply).toMatchObject({ status: 201, body: "got body" });
    expect(reply.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(reply.headers["x-a"]).toBe("1, 2");
    expect(reply.headers["x-call-id"]).toBe(uuid);
    const seen = fn.requests[0];
    expect(seen).toMatchObject({ method: "POST", target: "/a%2Fb?x=1", body: "body" });
    expect(seen?.headers).toMatchObject({
      cookie: "a=1; b=2",
      "x-forwarded-proto": "https",
      "x-forwarded-host": `localhost:${gateway.port}`,
      "x-forwarded-for": "127.0.0.1",
    });
    const get = await client.ask({ ":path": "/function/hello" });
    expect(get.body).toBe("got ");
    expect(fn.requests[1]?.headers["transfer-encoding"]).toBeUndefined();
    const head = await client.ask({ ":method": "HEAD", ":path": "/function/hello" });
    expect(head).toMatchObject({ status: 201, body: "" });
    await eventually(() => gateway.lines.length === 3, { what: "three lines of access log" });
    expect(gateway.lines[0]).toMatchObject({ status: 201, bytesIn: 4, bytesOut: 8, client: "127.0.0.1" });
    expect((await client.ask({ ":path": "/function/nobody" })).status).toBe(404);
  });

  test("HTTP/1.1 is spoken on the same port", async () => {
    const { gateway } = await open();
    const fn = await fixture.serve();
    gateway.deploy("hello", { addresses: [fn.address] });
    const request = httpsRequest(`https://localhost:${gateway.port}/function/hello`, { ca: tls.cert, agent: false });
    request.end();
    const [response] = await once(request, "response");
    expect(response.httpVersion).toBe("1.1");
    expect(await text(response)).toBe("ok");
  });

  test("bodies stream both ways, with back-pressure", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve((request, response) => request.pipe(response), { readBody: false });
    gateway.deploy("echo", { addresses: [fn.address] });
    const stream = client.session.request({ ":method": "POST", ":path": "/function/echo" });
    stream.write("one");
    expect(String(await once(stream, "data"))).toBe("one");
    stream.write("two");
    expect(String(await once(stream, "data"))).toBe("two");
    const rest = text(stream);
    const large = "x".repeat(5_000_000);
    stream.end(large);
    expect((await rest).length).toBe(large.length);
  });

  test("events are flushed at once, and a client that leaves ends the call", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    });
    gateway.deploy("events", { addresses: [fn.address] });
    const stream = client.session.request({ ":path": "/function/events" });
    stream.on("error", () => {});
    expect(String(await once(stream, "data"))).toBe("data: 1\n\n");
    stream.close(constants.NGHTTP2_CANCEL);
    await eventually(() => fn.aborted === 1, { what: "the function to notice" });
    await eventually(() => gateway.lines.length === 1, { what: "the end of the call" });
    expect((await client.ask({ ":path": "/other" })).body).toBe("other");
  });

  test("a function that aborts resets its stream only", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve((_request, response) => {
      response.writeHead(200).write("half");
      setTimeout(() => response.destroy(), 20);
    });
    gateway.deploy("half", { addresses: [fn.address] });
    await expect(client.ask({ ":path": "/function/half" })).rejects.toThrow(/INTERNAL_ERROR/);
    expect((await client.ask({ ":path": "/other" })).status).toBe(200);
  });

  test("a call over its timeout gets 504, and concurrency.max holds", async () => {
    const { gateway, client } = await open({ upstreamTimeout: 1_500 });
    const fn = await fixture.serve(() => {});
    gateway.deploy("slow", { addresses: [fn.address], annotations: { "com.service.concurrency.max": "1" } });
    const first = client.ask({ ":path": "/function/slow" });
    await eventually(() => fn.requests.length === 1, { what: "the first call" });
    expect((await client.ask({ ":path": "/function/slow" })).status).toBe(429);
    expect((await first).status).toBe(504);
  });

  test.each([
    ["Authorization twice", ["authorization", "a", "authorization", "b"], 400],
    ["Content-Type twice", ["content-type", "a/b", "content-type", "a/b"], 400],
    ["X-Call-Id twice", ["x-call-id", uuid, "x-call-id", uuid], 400],
    ["X-Callback-Url twice", ["x-callback-url", "http://a/", "x-callback-url", "http://a/"], 400],
    ["X-Call-Depth twice", ["x-call-depth", "1", "x-call-depth", "1"], 400],
    ["another Host beside :authority", ["host", "elsewhere"], 400],
    ["an invalid content length", ["content-length", "0x1"], 0],
    ["an unknown expectation", ["expect", "tea"], 417],
    ["more than 100 headers", Array.from({ length: 101 }, (_none, index) => [`x-${index}`, "1"]).flat(), 431],
    ["a head over 16 KiB", ["x-large", "x".repeat(17_000)], 431],
  ])("%s", async (_name, extra, status) => {
    const { gateway, client } = await open();
    const fn = await fixture.serve();
    gateway.deploy("hello", { addresses: [fn.address] });
    const { port } = gateway;
    const head = [":method", "GET", ":path", "/function/hello", ":authority", `localhost:${port}`, ":scheme", "https"];
    const asked = client.ask([...head, ...extra]);
    if (status === 0) await expect(asked).rejects.toThrow();
    else expect((await asked).status).toBe(status);
    expect(fn.requests).toHaveLength(0);
    expect((await client.ask({ ":path": "/function/hello" })).status).toBe(200);
  });

  test("an invalid target resets the stream", async () => {
    const { client } = await open();
    await expect(client.ask({ ":path": "/a b" })).rejects.toThrow(/PROTOCOL_ERROR/);
    await expect(client.ask({ ":path": "*" })).rejects.toThrow(/PROTOCOL_ERROR/);
    expect((await client.ask({ ":path": "/x" })).status).toBe(200);
  });

  test.each([
    ["TRACE", "/x", 405],
    ["CONNECT", undefined, 405],
    ["FROBNICATE", "/function/hello", 400],
    ["get", "/x", 400],
    ["GET", "/\u00e9", 400],
    ["GET", `/${"x".repeat(8_192)}`, 414],
  ])("%s %s", async (method, path, status) => {
    const { client } = await open();
    const head = path === undefined ? { ":authority": "g" } : { ":path": path };
    expect((await client.ask({ ":method": method, ...head })).status).toBe(status);
  });

  test("platform headers from outside, and their lookalikes, are dropped", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve();
    gateway.deploy("hello", { addresses: [fn.address] });
    const hidden = ["x-call-attempt", "x-parent-call-id", "weir-x", "x_call_id", "proxy-authorization"];
    await client.ask({
      ":path": "/function/hello",
      te: "trailers",
      ...Object.fromEntries(hidden.map((n) => [n, "1"])),
    });
    for (const name of hidden) expect(fn.requests[0]?.headers[name]).toBeUndefined();
  });

  test("X-Forwarded-* count from trusted proxies only, and the trace continues", async () => {
    const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const head = {
      ":path": "/function/hello",
      "x-forwarded-for": "8.8.8.8",
      "x-forwarded-host": "public.example",
      "x-forwarded-proto": "http",
      traceparent: trace,
      tracestate: "a=1",
    };
    const seen: Record<string, string | undefined>[] = [];
    for (const trusted of [false, true]) {
      const { gateway, client } = await open({ server: { isTrustedProxy: () => trusted } });
      const fn = await fixture.serve();
      gateway.deploy("hello", { addresses: [fn.address] });
      await client.ask(head);
      seen.push({ ...fn.requests[0]?.headers, port: String(gateway.port) });
    }
    const [stranger, proxy] = seen;
    expect(stranger).toMatchObject({
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": `localhost:${stranger?.port}`,
      "x-forwarded-proto": "https",
      traceparent: trace,
      tracestate: "a=1",
    });
    expect(proxy).toMatchObject({
      "x-forwarded-for": "8.8.8.8, 127.0.0.1",
      "x-forwarded-host": "public.example",
      "x-forwarded-proto": "http",
    });
  });

  test("methods and paths that clients invent create no series", async () => {
    const { gateway, client } = await open();
    for (const method of ["FROBNICATE", "SPY", "TRACE"]) await client.ask({ ":method": method, ":path": `/${method}` });
    const labels = [...gateway.routes.entries()].map(([{ path, method }]) => `${method} ${path}`);
    expect(labels.length).toBeGreaterThan(0);
    expect(new Set(labels)).toEqual(new Set(["other other"]));
  });

  test("trailers of a function that speaks HTTP/1.1 pass, those of the client do not", async () => {
    const { gateway, client } = await open();
    let receivedTrailers: readonly string[] = [];
    const fn = await fixture.serve((request, response, body) => {
      receivedTrailers = request.rawTrailers;
      response.writeHead(200, { trailer: "X-Sum" });
      response.write(body);
      response.addTrailers({ "X-Sum": "1" });
      response.end();
    });
    gateway.deploy("sums", { addresses: [fn.address] });
    const head = { ":method": "POST", ":path": "/function/sums", te: "trailers" };
    const stream = client.session.request(head, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-mine": "2" }));
    stream.end("it");
    const reply = await answerOf(stream);
    expect(reply).toMatchObject({ status: 200, body: "it", trailers: { "x-sum": "1" } });
    expect(reply.headers["trailer"]).toBeUndefined();
    expect(receivedTrailers).toEqual([]);
  });

  test("100 Continue is sent when a replica asks for the body", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve((_request, response, body) => response.end(`got ${body}`));
    gateway.deploy("cold", { replicas: 0 });
    const head = { ":method": "POST", ":path": "/function/cold", expect: "100-continue" };
    const stream = client.session.request(head);
    let continued = false;
    stream.once("continue", () => {
      continued = true;
      stream.end("it");
    });
    const reply = answerOf(stream);
    await eventually(() => gateway.waker.waitingCallers === 1, { what: "the call that waits" });
    expect(continued).toBe(false);
    gateway.setReplicas("cold", [fn.address]);
    expect((await reply).body).toBe("got it");
    expect(fn.requests[0]?.headers["expect"]).toBe("100-continue");
  });

  test("interim responses pass, and a reply instead of 100 Continue", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serveRaw(
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-Call-Id: forged\r\n\r\nHTTP/1.1 413 Big\r\nContent-Length: 2\r\n\r\nno",
    );
    gateway.deploy("hello", { addresses: [fn.address] });
    const stream = client.session.request({ ":method": "POST", ":path": "/function/hello", expect: "100-continue" });
    const interim: object[] = [];
    stream.on("headers", (headers) => interim.push(Object.fromEntries(Object.entries(headers))));
    expect(await answerOf(stream)).toMatchObject({ status: 413, body: "no" });
    expect(interim).toEqual([{ ":status": 103, link: "</a>" }]);
  });

  test("an idle body gets 408", async () => {
    const { gateway, client } = await open({ server: { bodyIdleTimeout: 200 } });
    const fn = await fixture.serve();
    gateway.deploy("hello", { addresses: [fn.address] });
    const stream = client.session.request({ ":method": "POST", ":path": "/function/hello" });
    stream.write("half");
    expect((await answerOf(stream)).status).toBe(408);
  });

  test("a connection carries 100 streams at a time", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve((_request, response) => setTimeout(() => response.end("ok"), 20));
    gateway.deploy("hello", { addresses: [fn.address] });
    expect(client.session.remoteSettings.maxConcurrentStreams).toBe(100);
    const replies = await Promise.all(Array.from({ length: 300 }, () => client.ask({ ":path": "/function/hello" })));
    expect(replies.every(({ status, body }) => status === 200 && body === "ok")).toBe(true);
  });

  test("hundreds of bodies at once share a connection, more than it carries at a time", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve((request, response) => request.pipe(response), { readBody: false });
    gateway.deploy("echo", { addresses: [fn.address] });
    const bodies = Array.from({ length: 500 }, (_none, index) => `${index} ${"x".repeat(index * 10)}`);
    const replies = await Promise.all(
      bodies.map((body) => client.ask({ ":method": "POST", ":path": "/function/echo" }, body)),
    );
    expect(replies.map(({ body }) => body)).toEqual(bodies);
  });

  test("bodies that are read in part or not at all leave no stream behind", async () => {
    const other: RequestListener = (request, response) => {
      const reply = (): void => void setTimeout(() => response.end("enough"), 20);
      if (request.url === "/ignored") return reply();
      request.once("data", () => {
        request.pause();
        reply();
      });
    };
    const { gateway, client } = await open({ other });
    const fn = await fixture.serve((_request, response) => response.end("enough"), { readBody: false });
    gateway.deploy("early", { addresses: [fn.address] });
    // One that has arrived whole by the time of the response, and one larger than what may arrive unread.
    const bodies = ["small", "x".repeat(100_000)];
    const targets = [
      { path: "/function/nobody", status: 404 },
      { path: "/function/early", status: 200 },
      { path: "/ignored", status: 200 },
      { path: "/begun", status: 200 },
    ];
    // More of each, in all, than a connection carries at a time.
    for (const body of bodies) {
      for (const { path, status } of targets) {
        const replies = await Promise.all(
          Array.from({ length: 150 }, () => client.ask({ ":method": "POST", ":path": path }, body)),
        );
        for (const reply of replies) expect(reply.status).toBe(status);
      }
    }
  });

  test("a client that ends its connection ends the calls of all its streams", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    });
    gateway.deploy("events", { addresses: [fn.address] });
    const streams = [1, 2, 3].map(() => client.session.request({ ":path": "/function/events" }));
    for (const stream of streams) stream.on("error", () => {});
    await Promise.all(streams.map((stream) => once(stream, "data")));
    client.close();
    await eventually(() => fn.aborted === 3, { what: "the function to notice" });
    await eventually(() => gateway.lines.length === 3, { what: "the end of the calls" });
  });

  test("requests that are not whole are no load: reset at once, or without the end of their body", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve((_request, response) => response.end("called"));
    gateway.deploy("hello", { addresses: [fn.address] });
    const reset = Array.from({ length: 100 }, async () => {
      const stream = client.session.request({ ":path": "/function/hello" });
      stream.on("error", () => {}).close(constants.NGHTTP2_CANCEL);
      await once(stream, "close");
    });
    await Promise.all(reset);
    const half = client.session.request({ ":path": "/function/hello", ":method": "POST", "content-length": 9 });
    half.on("error", () => {}).write("half");
    const counts = gateway.counts.of("hello.functions");
    await eventually(() => counts.inFlight === 1, { what: "the call that was begun" });
    half.close(constants.NGHTTP2_CANCEL);
    await eventually(() => counts.inFlight === 0, { what: "its end" });
    expect(counts.finished).toBe(0);
    expect(fn.requests).toEqual([]);
    expect(await client.ask({ ":path": "/function/hello" })).toMatchObject({ status: 200, body: "called" });
    await eventually(() => counts.finished === 1, { what: "the whole call" });
  });

  test("browsers are told to use TLS alone, whatever the function says", async () => {
    const { gateway, client } = await open({ server: { hsts: "max-age=60" } });
    const fn = await fixture.serve((_request, response) => {
      response.writeHead(200, { "Strict-Transport-Security": "max-age=0" }).end("called");
    });
    gateway.deploy("hello", { addresses: [fn.address] });
    for (const path of ["/function/hello", "/function/unknown", "/healthz"])
      expect((await client.ask({ ":path": path })).headers["strict-transport-security"]).toBe("max-age=60");
    const request = httpsRequest(`https://localhost:${gateway.port}/function/hello`, { ca: tls.cert, agent: false });
    const [response] = await once(request.end(), "response");
    // Only the first counts (RFC 6797).
    expect(response.resume().rawHeaders.slice(0, 2)).toEqual(["Strict-Transport-Security", "max-age=60"]);
  });

  test("a client that resets stream after stream loses its connection", async () => {
    const { gateway, client } = await open();
    const fn = await fixture.serve(() => {});
    gateway.deploy("hello", { addresses: [fn.address] });
    const gone = new Promise((resolve) => client.session.once("close", resolve));
    for (let sent = 0; sent < 2_000 && !client.session.closed; sent += 1) {
      const stream = client.session.request({ ":path": "/function/hello" });
      stream.on("error", () => {});
      stream.close(constants.NGHTTP2_CANCEL);
      if (sent % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await gone;
    await eventually(() => fn.open === 0, { what: "the end of all calls" });
  });

  test.each([
    ["at once", 0],
    ["after longer than that", 2_500],
  ])("a stream that is not read is aborted, and the client's others continue; response %s", async (_when, wait) => {
    const large = Buffer.alloc(5_000_000);
    // The stream that is read shares this process with its gateway, on a machine that others use.
    const bodyIdleTimeout = 2_000;
    const other: RequestListener = (_request, response) => void setTimeout(() => response.end(large), wait);
    const { client } = await open({ other, server: { bodyIdleTimeout } });
    const slow = client.session.request({ ":path": "/large" });
    const failed = once(slow, "error");
    await once(slow, "response");
    const reading = client.ask({ ":path": "/large" });
    expect((await reading).body.length).toBe(5_000_000);
    expect(String((await failed)[0])).toMatch(/INTERNAL_ERROR/);
    expect((await client.ask({ ":path": "/large" })).status).toBe(200);
  });

  test("draining sends GOAWAY, and closing waits for the last reply", async () => {
    const { gateway, client } = await open();
    const pending: (() => void)[] = [];
    const fn = await fixture.serve((_request, response) => pending.push(() => response.end("last")));
    gateway.deploy("hello", { addresses: [fn.address] });
    const reply = client.ask({ ":path": "/function/hello" });
    await eventually(() => pending.length === 1, { what: "the call" });
    const goAway = once(client.session, "goaway");
    gateway.gateway.drain();
    expect((await goAway)[0]).toBe(constants.NGHTTP2_NO_ERROR);
    const late = fixture.closing(await openHttp2Client(gateway.port, tls.cert));
    expect((await late.ask({ ":path": "/other" })).status).toBe(200);
    const closed = gateway.gateway.close();
    pending[0]?.();
    expect((await reply).body).toBe("last");
    await closed;
  });

  test("an idle connection without a request is closed", async () => {
    const { client } = await open({ server: { headersTimeout: 100 } });
    await once(client.session, "close");
  });
});
