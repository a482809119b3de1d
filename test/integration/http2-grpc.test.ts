import { once } from "node:events";
import { constants, type ServerHttp2Stream } from "node:http2";

import { ChannelCredentials, Metadata, status, type Client, type ServiceError } from "@grpc/grpc-js";
import { beforeAll, describe, expect, test } from "vitest";

import { HttpProber } from "../../runtime/adapters/http/probe/http-prober.ts";
import { eventually } from "../support/eventually.ts";
import { GenericClient, greeter, openGrpcFunction } from "../support/grpc-function.ts";
import { openH2cFunction, type H2cHandler } from "../support/h2c-function.ts";
import { openHttp2Client } from "../support/http2-client.ts";
import { rawRequest } from "../support/raw-client.ts";
import { selfSigned } from "../support/self-signed.ts";
import { freeAddress, syncFixture } from "../support/sync-fixture.ts";
import type { SyncGatewayOptions } from "../support/sync-gateway.ts";

const h2c = { "com.service.protocol": "h2c" };

describe("functions that speak HTTP/2", () => {
  const fixture = syncFixture();
  let tls: { cert: Buffer; key: Buffer };
  beforeAll(async () => {
    tls = await selfSigned();
  });

  const openGrpc = async (options: SyncGatewayOptions = {}) => {
    const gateway = await fixture.open({ ...options, server: { tls } });
    const fn = fixture.closing(await openGrpcFunction());
    gateway.deploy("greeter", { addresses: [fn.address], annotations: h2c });
    const client = fixture.closing(
      new GenericClient(`localhost:${gateway.port}`, ChannelCredentials.createSsl(tls.cert)),
    );
    return { gateway, client };
  };
  const unary = (
    client: Client,
    name: "Greet" | "Fail" | "Late" | "None",
    options: { metadata?: Metadata; deadline?: number; fn?: string } = {},
  ) => {
    const { requestSerialize, responseDeserialize } = greeter.Greet;
    const facts: { err?: ServiceError | null; reply?: string; seen?: Metadata; trailing?: Metadata } = {};
    return new Promise<typeof facts>((resolve) => {
      const call = client.makeUnaryRequest(
        `/function/${options.fn ?? "greeter"}/test.Greeter/${name}`,
        requestSerialize,
        responseDeserialize,
        "you",
        options.metadata ?? new Metadata(),
        options.deadline === undefined ? {} : { deadline: Date.now() + options.deadline },
        (err, reply) => {
          facts.err = err;
          if (reply !== undefined) facts.reply = reply;
        },
      );
      call.on("metadata", (metadata) => (facts.seen = metadata));
      call.on("status", ({ metadata }) => {
        facts.trailing = metadata;
        setImmediate(() => resolve(facts));
      });
    });
  };

  test("a unary call passes with metadata and trailers", async () => {
    const { gateway, client } = await openGrpc();
    const metadata = new Metadata();
    metadata.set("x-mine", "mine");
    const facts = await unary(client, "Greet", { metadata });
    expect(facts).toMatchObject({ err: null, reply: "hello you" });
    expect(facts.seen?.get("seen")).toEqual(["mine"]);
    expect(facts.seen?.get("x-call-id")).toHaveLength(1);
    expect(facts.trailing?.get("sum")).toEqual(["7"]);
    await eventually(() => gateway.lines.length === 1, { what: "its line in the access log" });
    expect(gateway.lines[0]).toMatchObject({ status: 200, functionName: "greeter" });
  });

  test("an error of the function arrives unchanged", async () => {
    const { client } = await openGrpc();
    expect((await unary(client, "Fail")).err).toMatchObject({ code: status.FAILED_PRECONDITION, details: "not today" });
    expect((await unary(client, "None")).err).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  test("errors of the gateway have the codes of their status", async () => {
    const { gateway, client } = await openGrpc();
    expect((await unary(client, "Greet", { fn: "nobody" })).err?.code).toBe(status.UNIMPLEMENTED);
    gateway.deploy("gone", { addresses: [await freeAddress()], annotations: h2c });
    expect((await unary(client, "Greet", { fn: "gone" })).err?.code).toBe(status.UNAVAILABLE);
  });

  test("a deadline ends the call, on both sides", async () => {
    const { gateway, client } = await openGrpc();
    expect((await unary(client, "Late", { deadline: 200 })).err?.code).toBe(status.DEADLINE_EXCEEDED);
    await eventually(() => gateway.lines.length === 1, { what: "the end of the call" });
    expect(gateway.lines[0]?.status).toBe(499);
  });

  test("the gateway's own limit ends it, too", async () => {
    const { client } = await openGrpc({ upstreamTimeout: 200 });
    expect((await unary(client, "Late")).err?.code).toBe(status.UNAVAILABLE);
  });

  test("messages stream from the function, and both ways", async () => {
    const { client } = await openGrpc();
    const { requestSerialize, responseDeserialize } = greeter.Count;
    const path = "/function/greeter/test.Greeter";
    const counted: string[] = [];
    const stream = client.makeServerStreamRequest(`${path}/Count`, requestSerialize, responseDeserialize, "n");
    for await (const message of stream) counted.push(String(message));
    expect(counted).toEqual(["n1", "n2", "n3", "n4", "n5"]);

    const chat = client.makeBidiStreamRequest(`${path}/Chat`, requestSerialize, responseDeserialize);
    for (const message of ["a", "b"]) {
      chat.write(message);
      expect(await once(chat, "data")).toEqual([`re: ${message}`]);
    }
    chat.resume().end();
    const [ended] = await once(chat, "status");
    expect(ended.code).toBe(status.OK);
  });

  test("a function is woken for a call", async () => {
    const { gateway, client } = await openGrpc();
    const fn = fixture.closing(await openGrpcFunction());
    gateway.deploy("scaled-to-zero", { replicas: 0, annotations: h2c });
    const call = unary(client, "Greet", { fn: "scaled-to-zero" });
    await eventually(() => gateway.store.writes === 1, { what: "the scale-up" });
    gateway.setReplicas("scaled-to-zero", [fn.address]);
    expect((await call).reply).toBe("hello you");
  });

  const serveH2c = async (handler: H2cHandler) => fixture.closing(await openH2cFunction(handler));
  const withTrailers = (stream: ServerHttp2Stream, body: string): void => {
    stream.respond({ ":status": 200, "content-type": "text/plain" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1", "x-call-id": "mine" }));
    stream.end(`got ${body}`);
  };

  test("trailers pass both ways, except those with the platform's names", async () => {
    const gateway = await fixture.open({ server: { tls } });
    const fn = await serveH2c(withTrailers);
    gateway.deploy("sums", { addresses: [fn.address], annotations: h2c });
    const client = fixture.closing(await openHttp2Client(gateway.port, tls.cert));
    const head = { ":method": "POST", ":path": "/function/sums/a?b", te: "trailers" };
    const stream = client.session.request(head, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-mine": "2", "x-call-id": "mine" }));
    let received: unknown;
    stream.on("trailers", (_trailers, _flags, list) => (received = list));
    stream.end("it").resume();
    await once(stream, "close");
    expect(received).toEqual(["x-sum", "1"]);
    expect(fn.trailers).toEqual([["x-mine", "2"]]);
    const seen = fn.seen[0] ?? [];
    expect(seen.slice(seen.indexOf("te"), seen.indexOf("te") + 2)).toEqual(["te", "trailers"]);
    expect(seen).toEqual(expect.arrayContaining([":path", "/a?b", ":authority", fn.address]));
    expect(seen).not.toContain("transfer-encoding");
  });

  test("a client of HTTP/1.1 gets the body without trailers", async () => {
    const gateway = await fixture.open();
    const fn = await serveH2c(withTrailers);
    gateway.deploy("sums", { addresses: [fn.address], annotations: h2c });
    const options = { method: "POST", body: "it", headers: { te: "trailers", connection: "te" } };
    const response = await fetch(`${gateway.base}/function/sums`, { ...options, headers: {} });
    expect(await response.text()).toBe("got it");
    expect(response.headers.get("trailer")).toBeNull();
    expect(fn.seen[0]).not.toContain("te");
  });

  test("repeated headers arrive, and none that concerns a connection", async () => {
    const gateway = await fixture.open();
    const fn = await serveH2c(withTrailers);
    gateway.deploy("sums", { addresses: [fn.address], annotations: h2c });
    const lines = ["Host: g", "Referer: a", "Referer: b", "HTTP2-Settings: AA", "Proxy-Connection: keep-alive"];
    const bytes = `GET /function/sums HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
    expect(await rawRequest(gateway.port, bytes)).toMatchObject({ status: 200, body: "got " });
    const seen = fn.seen[0] ?? [];
    expect(seen.filter((_value, index) => seen[index - 1] === "referer")).toEqual(["a", "b"]);
    expect(seen).not.toContain("http2-settings");
    expect(seen).not.toContain("proxy-connection");
  });

  test("a connection closes once it is idle, after a long call, too", async () => {
    const gateway = await fixture.open({ upstreamTimeout: 15_000 });
    const fn = await serveH2c((stream, body) => setTimeout(() => withTrailers(stream, body), 4_500));
    gateway.deploy("long", { addresses: [fn.address], annotations: h2c });
    expect((await fetch(`${gateway.base}/function/long`)).status).toBe(200);
    expect(fn.open).toBe(1);
    await eventually(() => fn.open === 0, { what: "the end of the connection" });
  });

  test("a call of a function that breaks the rules of HTTP/2 is 502", async () => {
    const gateway = await fixture.open();
    const fn = await fixture.serve();
    gateway.deploy("old", { addresses: [fn.address], annotations: h2c });
    const response = await fetch(`${gateway.base}/function/old`);
    expect(response.status).toBe(502);
    expect(await response.text()).toMatch(/Cannot call function "old/);
  });

  test("a refused connection is retried at another replica, with the whole body", async () => {
    const gateway = await fixture.open();
    const fn = await serveH2c(withTrailers);
    gateway.deploy("two", { addresses: [await freeAddress(), fn.address], annotations: h2c });
    const bodies = [undefined, "a", "b", "x".repeat(100_000), undefined, "c"];
    for (const body of bodies) {
      const init = body === undefined ? {} : { method: "POST", body };
      const reply = await fetch(`${gateway.base}/function/two`, init);
      expect({ status: reply.status, body: await reply.text() }).toEqual({ status: 200, body: `got ${body ?? ""}` });
    }
    expect(gateway.table.findKey("two")?.replicas.map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });

  test("a stream that a replica refuses is retried at another, one that it accepted is not", async () => {
    const gateway = await fixture.open();
    const { NGHTTP2_REFUSED_STREAM, NGHTTP2_INTERNAL_ERROR } = constants;
    let code: number = NGHTTP2_REFUSED_STREAM;
    const refusing = await serveH2c((stream) => stream.close(code));
    const fn = await serveH2c(withTrailers);
    gateway.deploy("two", { addresses: [refusing.address, fn.address], annotations: h2c });
    const statuses = async () => {
      const seen: number[] = [];
      for (let round = 0; round < 4; round += 1) seen.push((await fetch(`${gateway.base}/function/two`)).status);
      return seen;
    };
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    expect(refusing.seen.length).toBeGreaterThan(0);
    const before = refusing.seen.length + fn.seen.length;
    code = NGHTTP2_INTERNAL_ERROR;
    expect(await statuses()).toContain(502);
    expect(refusing.seen.length + fn.seen.length).toBe(before + 4);
  });

  test("connections that a function ends with GOAWAY lose no call", async () => {
    const gateway = await fixture.open();
    let count = 0;
    const fn = await serveH2c((stream, body) => {
      count += 1;
      if (count % 5 === 0) stream.session?.close();
      withTrailers(stream, body);
    });
    gateway.deploy("renewed", { addresses: [fn.address], annotations: h2c });
    const caller = async () => {
      const seen = new Set<number>();
      for (let round = 0; round < 50; round += 1) seen.add((await fetch(`${gateway.base}/function/renewed`)).status);
      return [...seen];
    };
    expect(await Promise.all([caller(), caller()])).toEqual([[200], [200]]);
  });

  test("a function that resets a stream half-way aborts that reply", async () => {
    const gateway = await fixture.open();
    let reset: (() => void) | undefined;
    const fn = await serveH2c((stream) => {
      stream.respond({ ":status": 200 });
      stream.write("half");
      reset = () => void stream.destroy(new Error("broke"));
    });
    gateway.deploy("half", { addresses: [fn.address], annotations: h2c });
    const response = await fetch(`${gateway.base}/function/half`);
    expect(response.status).toBe(200);
    reset?.();
    await expect(response.text()).rejects.toThrow();
  });

  test("an aborted body does not look whole to the function", async () => {
    const gateway = await fixture.open({ server: { tls } });
    let whole = false;
    const fn = await serveH2c((stream) => (whole = !stream.aborted));
    gateway.deploy("upload", { addresses: [fn.address], annotations: h2c });
    const client = fixture.closing(await openHttp2Client(gateway.port, tls.cert));
    const stream = client.session.request({ ":method": "POST", ":path": "/function/upload" });
    stream.on("error", () => {});
    stream.write("half");
    await eventually(() => fn.seen.length === 1, { what: "the call" });
    stream.destroy(new DOMException("left", "AbortError"));
    await eventually(() => fn.broken === 1, { what: "the function to notice" });
    expect(whole).toBe(false);
  });

  test("a replica is ready when it speaks HTTP/2", async () => {
    const prober = new HttpProber();
    const fn = await serveH2c(withTrailers);
    const old = await fixture.serve();
    expect(await prober.probe(fn.address, undefined, 1_000, "h2c")).toEqual({ kind: "passed" });
    expect((await prober.probe(old.address, undefined, 1_000, "h2c")).kind).not.toBe("passed");
    expect((await prober.probe(await freeAddress(), undefined, 1_000, "h2c")).kind).not.toBe("passed");
  });

  test("more calls than one connection may carry", async () => {
    const gateway = await fixture.open();
    const held: ServerHttp2Stream[] = [];
    const fn = await serveH2c((stream) => held.push(stream));
    gateway.deploy("many", { addresses: [fn.address], annotations: h2c });
    const calls = Array.from({ length: 150 }, () => fetch(`${gateway.base}/function/many`));
    await eventually(() => held.length === 150, { what: "all calls" });
    for (const stream of held) withTrailers(stream, "");
    for (const reply of await Promise.all(calls)) expect(await reply.text()).toBe("got ");
  });
});
