import { once } from "node:events";
import { Readable } from "node:stream";

import { afterEach, describe, expect, test } from "vitest";

import type { Upstream, UpstreamCall, UpstreamRequest } from "../../runtime/core/ports/upstream.ts";
import { eventually } from "../support/eventually.ts";
import { HeardResponse } from "../support/heard-response.ts";
import { openRawReplica, type RawReplica, type ReplicaConnection } from "../support/raw-replica.ts";
import { freeAddress } from "../support/sync-fixture.ts";

const mebibyte = 1_048_576;
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

interface Exchange {
  readonly response: HeardResponse;
  readonly call: UpstreamCall;
}

/** What every `Upstream` must do over HTTP/1.1. */
export function upstreamContract(open: () => Upstream, openReplica = openRawReplica): void {
  const things: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const thing of things.splice(0).toReversed()) await thing.close();
  });
  const closing = <T extends { close(): Promise<void> }>(thing: T): T => {
    things.push(thing);
    return thing;
  };
  const replica = async (...args: Parameters<typeof openRawReplica>): Promise<RawReplica> =>
    closing(await openReplica(...args));
  const replying = (reply: string): Promise<RawReplica> => replica((connection) => connection.write(reply));
  const send = (upstream: Upstream, address: string, over: Partial<UpstreamRequest> = {}): Exchange => {
    const response = new HeardResponse();
    const request = { method: "GET", target: "/a?b", headers: [], body: null, ...over };
    return { response, call: upstream.dispatch(address, request, response) };
  };
  const outcomeOf = async ({ response }: Exchange): Promise<HeardResponse> => {
    await eventually(() => response.outcome !== undefined, { what: "the end of the call" });
    return response;
  };
  const first = ({ connections }: RawReplica): Promise<ReplicaConnection> =>
    eventually(() => connections[0], { what: "a connection" });
  const until = (condition: () => boolean, what: string): Promise<boolean> => eventually(condition, { what });

  describe("sends", () => {
    test("the head with the replica's Host, and reports the response as it was sent", async () => {
      const fn = await replying(
        "HTTP/1.1 203 So\r\nX-B: na\xefve\r\nx-a: 1\r\nX-B: 2\r\nContent-Length: 3\r\n\r\n\xffok",
      );
      const response = await outcomeOf(
        send(closing(open()), fn.address, { headers: ["X-Own", "na\xefve", "x-own", "2"] }),
      );
      expect(response).toMatchObject({ status: 203, body: "\xffok", outcome: "end" });
      expect(response.headers).toEqual(["X-B", "na\xefve", "x-a", "1", "X-B", "2", "Content-Length", "3"]);
      const { received } = await first(fn);
      expect(received.startsWith("GET /a?b HTTP/1.1\r\n")).toBe(true);
      expect(received.toLowerCase()).toContain(`\r\nhost: ${fn.host}\r\n`);
      expect(received).toContain("\r\nX-Own: na\xefve\r\nx-own: 2\r\n");
      expect(received).not.toMatch(/content-length|transfer-encoding/i);
    });

    test.each<[string, () => Partial<UpstreamRequest>, string]>([
      ["bytes", () => ({ body: Buffer.from("hello") }), "content-length: 5\r\n\r\nhello"],
      [
        "many bytes",
        () => ({ body: Buffer.alloc(100_000, "x") }),
        `content-length: 100000\r\n\r\n${"x".repeat(100_000)}`,
      ],
      ["no bytes", () => ({ body: Buffer.alloc(0), headers: ["Content-Length", "0"] }), "content-length: 0\r\n\r\n"],
      [
        "a stream of known length",
        () => ({ body: bodyOf("hel", "lo"), headers: ["Content-Length", "5"] }),
        "content-length: 5\r\n\r\nhello",
      ],
      [
        "a stream",
        () => ({ body: bodyOf("hel", "", "lo") }),
        "transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
      ],
    ])("%s", async (_name, over, expected) => {
      const fn = await replica();
      const exchange = send(closing(open()), fn.address, { method: "POST", ...over() });
      const connection = await first(fn);
      await until(() => connection.received.endsWith(expected), "the body");
      connection.write(ok);
      expect(await outcomeOf(exchange)).toMatchObject({ status: 200, body: "ok", outcome: "end" });
    });

    test("a Host, an expectation and a wish for trailers, if it has them", async () => {
      const fn = await replica();
      const body = new Readable({ read: () => {} });
      const over = { method: "POST", host: "own.example", expectsContinue: true, wantsTrailers: true, body };
      const exchange = send(closing(open()), fn.address, over);
      const connection = await first(fn);
      await until(() => connection.received.endsWith("\r\n\r\n"), "the head before any of the body");
      const head = connection.received.toLowerCase();
      for (const line of ["host: own.example", "connection: keep-alive, te", "te: trailers", "expect: 100-continue"])
        expect(head).toContain(`\r\n${line}\r\n`);
      connection.write("HTTP/1.1 100 Continue\r\n\r\n");
      await until(() => exchange.response.interim.length === 1, "the interim response");
      body.push("hi");
      body.push(null);
      await until(() => connection.received.endsWith("\r\n2\r\nhi\r\n0\r\n\r\n"), "the body");
      connection.write(chunkedReply("2\r\nok\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n"));
      expect(await outcomeOf(exchange)).toMatchObject({
        outcome: "end",
        body: "ok",
        interim: [[100, []]],
        trailers: ["X-Sum", "1", "x-sum", "2"],
      });
    });

    test("no faster than the replica reads", async () => {
      const fn = await replica(undefined, ({ socket }) => void socket.pause());
      let made = 0;
      const body = new Readable({
        read() {
          made += 65_536;
          this.push(Buffer.alloc(65_536));
        },
      });
      const { response, call } = send(closing(open()), fn.address, { method: "POST", body });
      let stoppedAt = -1;
      await eventually(() => stoppedAt === (stoppedAt = made) && made > 0, { every: 200, what: "a stop" });
      expect(made).toBeLessThan(32 * mebibyte);
      (await first(fn)).socket.resume();
      await until(() => made > stoppedAt + mebibyte, "more to be sent");
      call.abort();
      await until(() => body.destroyed, "the end of the body");
      expect(response.outcome).toBeUndefined();
    });

    test.each<[string, Partial<UpstreamRequest>]>([
      ["a line break in a value", { headers: ["X-A", "a\r\nX-B: b"] }],
      ["a character above U+00FF in a value", { headers: ["X-A", "\u010a"] }],
      ["an invalid name", { headers: ["X A", "a"] }],
      ["a space in the target", { target: "/a b" }],
      ["a length other than the body's", { method: "POST", headers: ["Content-Length", "3"], body: Buffer.from("ok") }],
    ])("nothing of a request that has %s", async (_name, over) => {
      const fn = await replica();
      expect(await outcomeOf(send(closing(open()), fn.address, over))).toMatchObject({ outcome: "refused" });
      expect(fn.connections.every(({ received }) => received === "")).toBe(true);
    });

    test.each<[string, () => Readable, readonly string[]]>([
      ["breaks", () => breaking("ab"), []],
      ["is destroyed", () => destroyed("ab"), []],
      ["is longer than its length", () => bodyOf("abc", "def"), ["Content-Length", "5"]],
      ["is shorter than its length", () => bodyOf("ab"), ["Content-Length", "5"]],
    ])("no end of a body that %s, and closes the connection", async (_name, body, headers) => {
      const fn = await replica();
      const exchange = send(closing(open()), fn.address, { method: "POST", headers: [...headers], body: body() });
      expect(await outcomeOf(exchange)).toMatchObject({ outcome: "reset", status: 0 });
      const connection = await first(fn);
      await until(() => connection.ended, "the connection to close");
      expect(connection.received).not.toContain("0\r\n\r\n");
      expect(connection.received).not.toContain("abcdef");
    });
  });

  describe("reports", () => {
    test.each([
      ["a body until the end", "HTTP/1.1 200 OK\r\n\r\nrest", { status: 200, body: "rest" }],
      ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", { status: 200, body: "ok" }],
      [
        "chunks without trailers that nobody wants",
        chunkedReply("3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX-Sum: 1\r\n\r\n"),
        { body: "hello", trailers: [] },
      ],
      ["204", "HTTP/1.1 204 No\r\n\r\n", { status: 204, body: "" }],
      ["304 with a length", "HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n", { status: 304, body: "" }],
      [
        "a response after interim ones",
        `${"HTTP/1.1 103 Early\r\nLink: a\r\n\r\n".repeat(10)}${ok}`,
        { body: "ok", interim: Array.from({ length: 10 }, () => [103, ["Link", "a"]]) },
      ],
    ])("%s", async (_name, reply, expected) => {
      const fn = await replica(({ socket }) => void socket.end(Buffer.from(reply, "latin1")));
      expect(await outcomeOf(send(closing(open()), fn.address))).toMatchObject({ outcome: "end", ...expected });
    });

    test("no body in a response to HEAD", async () => {
      const fn = await replying("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
      const response = await outcomeOf(send(closing(open()), fn.address, { method: "HEAD" }));
      expect(response).toMatchObject({ status: 200, body: "", outcome: "end", headers: ["Content-Length", "9"] });
    });

    test("a stream as it arrives", async () => {
      const fn = await replica();
      const exchange = send(closing(open()), fn.address);
      const connection = await first(fn);
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
      await until(() => exchange.response.body === "one", "the first chunk");
      connection.write("3\r\ntwo\r\n0\r\n\r\n");
      expect(await outcomeOf(exchange)).toMatchObject({ body: "onetwo", outcome: "end" });
    });

    test.each([
      ["a length", "Content-Length: 33554432\r\n\r\n"],
      ["no length", "\r\n"],
    ])("no more of a body with %s than the listener takes", async (_name, framing) => {
      const fn = await replica(({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\n${framing}`);
        socket.end(Buffer.alloc(32 * mebibyte));
      });
      const exchange = send(closing(open()), fn.address);
      const { response, call } = exchange;
      response.takesMore = false;
      response.keeps = false;
      let stoppedAt = -1;
      await eventually(() => stoppedAt === (stoppedAt = response.bytes) && stoppedAt > 0, {
        every: 200,
        what: "a stop",
      });
      expect(stoppedAt).toBeLessThan(mebibyte);
      call.resume();
      await until(() => response.bytes > stoppedAt, "more after one resume");
      response.takesMore = true;
      call.resume();
      expect(await outcomeOf(exchange)).toMatchObject({ outcome: "end", bytes: 32 * mebibyte });
    });

    test("a response that comes before the whole body was sent, and does not reuse the connection", async () => {
      const fn = await replica();
      const upstream = closing(open());
      const body = new Readable({ read: () => {} });
      body.push("some");
      const exchange = send(upstream, fn.address, { method: "POST", body });
      const connection = await first(fn);
      await until(() => connection.received.includes("some"), "some of the body");
      connection.write("HTTP/1.1 413 Much\r\nContent-Length: 2\r\n\r\nno");
      expect(await outcomeOf(exchange)).toMatchObject({ status: 413, body: "no", outcome: "end" });
      await until(() => connection.ended && body.destroyed, "the connection to close");
    });

    test.each([
      ["nothing", ""],
      ["half a head", "HTTP/1.1 200 OK\r\nCont"],
      ["a part of the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"],
      ["some chunks", chunkedReply("2\r\nok\r\n")],
    ])("that the connection broke after %s", async (_name, reply) => {
      for (const reset of [false, true]) {
        const fn = await replica((connection) => {
          connection.socket.write(reply, () => (reset ? connection.reset() : connection.socket.end()));
        });
        expect(await outcomeOf(send(closing(open()), fn.address))).toMatchObject({ outcome: "reset" });
      }
    });

    test.each([
      ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"],
      ["a change of protocol that nobody asked for", "HTTP/1.1 101 S\r\nUpgrade: foo\r\nConnection: upgrade\r\n\r\n"],
      ["an invalid chunk", chunkedReply("zz\r\n")],
      ["no HTTP", "220 smtp ready\r\n"],
    ])("that the response is malformed: %s", async (_name, reply) => {
      const fn = await replying(reply);
      expect(await outcomeOf(send(closing(open()), fn.address))).toMatchObject({ outcome: "malformed" });
      const connection = await first(fn);
      await until(() => connection.ended, "the connection to close");
    });

    test("that nothing listens", async () => {
      expect(await outcomeOf(send(closing(open()), await freeAddress()))).toMatchObject({ outcome: "refused" });
    });
  });

  describe("keeps connections", () => {
    test("for the next call, each for one call at a time", async () => {
      const fn = await replying(ok);
      const upstream = closing(open());
      for (let round = 0; round < 5; round += 1)
        expect(await outcomeOf(send(upstream, fn.address))).toMatchObject({ body: "ok", outcome: "end" });
      expect(fn.connections).toHaveLength(1);
      const exchanges = Array.from({ length: 20 }, () => send(upstream, fn.address));
      for (const exchange of exchanges) expect(await outcomeOf(exchange)).toMatchObject({ body: "ok" });
      expect(fn.connections.length).toBeLessThanOrEqual(20);
    });

    test("but not one that sent more than was asked for", async () => {
      const fn = await replying(ok);
      const upstream = closing(open());
      await outcomeOf(send(upstream, fn.address));
      const connection = await first(fn);
      connection.write(`HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`);
      await until(() => connection.ended, "the connection to close");
      expect(await outcomeOf(send(upstream, fn.address))).toMatchObject({ body: "ok", outcome: "end" });
      expect(fn.connections).toHaveLength(2);
    });

    test.each<[string, (connection: ReplicaConnection) => void]>([
      ["closes", ({ socket }) => void socket.destroy()],
      ["sends too much on", ({ write }) => write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")],
    ])("but not one that the replica %s just as the next call starts", async (_name, spoil) => {
      const fn = await replying(ok);
      const upstream = closing(open());
      await outcomeOf(send(upstream, fn.address));
      // No turn of the event loop lies between, so the upstream cannot have noticed.
      spoil(await first(fn));
      const next = send(upstream, fn.address);
      expect(await outcomeOf(next)).toMatchObject({ body: "ok", outcome: "end" });
      expect(fn.connections).toHaveLength(2);
    });

    test.each([
      ["that the replica closed", "", true],
      ["that the replica announces to close", "Connection: close\r\n", false],
      ["that the replica keeps too briefly", "Keep-Alive: timeout=1\r\n", false],
    ])("but not one %s", async (_name, header, closes) => {
      const fn = await replica(({ socket, write }) => {
        write(`HTTP/1.1 200 OK\r\n${header}Content-Length: 2\r\n\r\nok`);
        if (closes) socket.end();
      });
      const upstream = closing(open());
      for (const round of [1, 2, 3]) {
        expect(await outcomeOf(send(upstream, fn.address))).toMatchObject({ body: "ok", outcome: "end" });
        await until(() => fn.connections.every(({ ended }) => ended), "the connection to close");
        expect(fn.connections).toHaveLength(round);
      }
    });

    test("only for as long as the replica does", async () => {
      const fn = await replying("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3\r\nContent-Length: 2\r\n\r\nok");
      const began = performance.now();
      await outcomeOf(send(closing(open()), fn.address));
      const connection = await first(fn);
      await until(() => connection.ended, "the connection to close");
      expect(performance.now() - began).toBeGreaterThan(900);
      expect(performance.now() - began).toBeLessThan(3_000);
    });

    test("until the replica is released, and those in use until the end of their calls", async () => {
      const fn = await replica();
      const upstream = closing(open());
      const [early, late] = [send(upstream, fn.address), send(upstream, fn.address)];
      await until(() => fn.connections.every(({ received }) => received !== "") && fn.connections.length === 2, "both");
      fn.connections[0]?.write(ok);
      await until(() => early.response.outcome !== undefined || late.response.outcome !== undefined, "one response");
      upstream.release(fn.address);
      await until(() => fn.connections[0]?.ended === true, "the idle one to close");
      expect(fn.connections[1]?.ended).toBe(false);
      fn.connections[1]?.write(ok);
      expect([await outcomeOf(early), await outcomeOf(late)]).toMatchObject([{ body: "ok" }, { body: "ok" }]);
      await until(() => fn.connections[1]?.ended === true, "the other one to close");
    });

    test("until the upstream is closed, which ends calls in flight", async () => {
      const fn = await replying("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
      const upstream = open();
      const exchange = send(upstream, fn.address);
      await until(() => exchange.response.body === "half", "a part of the response");
      await upstream.close();
      expect(await outcomeOf(exchange)).toMatchObject({ outcome: "reset" });
      const connection = await first(fn);
      await until(() => connection.ended, "the connection to close");
    });
  });

  describe("abort", () => {
    test("before anything was sent reports nothing", async () => {
      const fn = await replying(ok);
      const upstream = closing(open());
      const { response, call } = send(upstream, fn.address);
      call.abort();
      call.abort();
      call.resume();
      expect(await outcomeOf(send(upstream, fn.address))).toMatchObject({ body: "ok" });
      expect([response.outcome, response.status]).toEqual([undefined, 0]);
    });

    test.each(["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])(
      "closes the connection that has sent %j, and reports nothing more",
      async (sent) => {
        const fn = await replying(sent);
        const { response, call } = send(closing(open()), fn.address);
        const connection = await first(fn);
        await until(() => connection.received.includes("\r\n\r\n") && (sent === "" || response.body === "half"), "all");
        call.abort();
        await until(() => connection.ended, "the connection to close");
        expect(response.outcome).toBeUndefined();
      },
    );

    test("within the listener stops the response there", async () => {
      const fn = await replying(chunkedReply("1\r\na\r\n1\r\nb\r\n0\r\n\r\n"));
      const response = new HeardResponse();
      const onData = response.onData.bind(response);
      response.onData = (chunk) => {
        call.abort();
        return onData(chunk);
      };
      const request = { method: "GET", target: "/", headers: [], body: null };
      const call = closing(open()).dispatch(fn.address, request, response);
      const connection = await first(fn);
      await until(() => connection.ended, "the connection to close");
      expect([response.body, response.outcome]).toEqual(["a", undefined]);
    });

    test("after the end leaves the next call on the connection alone", async () => {
      const fn = await replica();
      const upstream = closing(open());
      const before = send(upstream, fn.address);
      const connection = await first(fn);
      connection.write(ok);
      await outcomeOf(before);
      const after = send(upstream, fn.address);
      await until(() => connection.received.split("\r\n\r\n").length === 3, "the second request");
      before.call.abort();
      before.call.resume();
      connection.write(ok);
      expect(await outcomeOf(after)).toMatchObject({ body: "ok", outcome: "end" });
    });
  });

  describe("upgrade", () => {
    const switching = "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Own: 1\r\n\r\n";

    test("hands the connection over with all that was received on it", async () => {
      const fn = await replying(`${switching}early`);
      const response = await outcomeOf(send(closing(open()), fn.address, { upgrade: "websocket" }));
      expect(response).toMatchObject({ outcome: "upgrade", status: 0 });
      expect(response.headers.slice(-2)).toEqual(["X-Own", "1"]);
      const connection = await first(fn);
      expect(connection.received.toLowerCase()).toContain("\r\nconnection: upgrade\r\nupgrade: websocket\r\n");
      let text = "";
      response.connection?.on("data", (chunk: Buffer) => (text += chunk.toString()));
      connection.write("late");
      await until(() => text === "earlylate", "what came");
      response.connection?.write("back");
      await until(() => connection.received.endsWith("back"), "what was sent");
      response.connection?.destroy();
      await until(() => connection.ended, "the end");
    });

    test("works after other calls, and calls continue", async () => {
      const fn = await replica((connection) =>
        connection.write(connection.received.includes("websocket") ? `${switching}early` : ok),
      );
      const upstream = closing(open());
      expect(await outcomeOf(send(upstream, fn.address))).toMatchObject({ status: 200, outcome: "end" });
      const { outcome, connection } = await outcomeOf(send(upstream, fn.address, { upgrade: "websocket" }));
      expect(outcome).toBe("upgrade");
      let text = "";
      connection?.on("data", (chunk: Buffer) => (text += chunk.toString()));
      fn.connections.find(({ received }) => received.includes("websocket"))?.write("late");
      await until(() => text === "earlylate", "what came");
      expect(await outcomeOf(send(upstream, fn.address))).toMatchObject({ status: 200, outcome: "end" });
      connection?.destroy();
    });

    test("ends with the listener, not with the upstream", async () => {
      const fn = await replying(switching);
      const upstream = open();
      const { connection } = await outcomeOf(send(upstream, fn.address, { upgrade: "websocket" }));
      await upstream.close();
      expect(connection?.destroyed).toBe(false);
      connection?.destroy();
      if (connection !== undefined) await once(connection, "close");
    });

    test("that is refused is a call like any other, back-pressure included", async () => {
      const fn = await replica(({ socket }) => {
        socket.write("HTTP/1.1 426 No\r\nContent-Length: 8388608\r\n\r\n");
        socket.write(Buffer.alloc(8 * mebibyte));
      });
      const exchange = send(closing(open()), fn.address, { upgrade: "websocket" });
      exchange.response.takesMore = false;
      exchange.response.keeps = false;
      await until(() => exchange.response.bytes > 0, "the first of it");
      expect(exchange.response.bytes).toBeLessThan(mebibyte);
      exchange.response.takesMore = true;
      exchange.call.resume();
      expect(await outcomeOf(exchange)).toMatchObject({ status: 426, bytes: 8 * mebibyte, outcome: "end" });
    });
  });
}

function chunkedReply(chunks: string): string {
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
}

function bodyOf(...chunks: readonly string[]): Readable {
  return Readable.from(
    chunks.map((chunk) => Buffer.from(chunk)),
    { objectMode: false },
  );
}

function breaking(chunk: string): Readable {
  const body = new Readable({ read: () => {} });
  body.push(chunk);
  body.once("data", () => setImmediate(() => body.destroy(new Error("broken"))));
  body.pause();
  return body;
}

function destroyed(chunk: string): Readable {
  const body = new Readable({ read: () => {} });
  body.push(chunk);
  body.once("data", () => setImmediate(() => body.destroy()));
  body.pause();
  return body;
}
