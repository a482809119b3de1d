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
  readonly heard: HeardResponse;
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
  const answering = (answer: string): Promise<RawReplica> => replica((connection) => connection.write(answer));
  const send = (upstream: Upstream, address: string, over: Partial<UpstreamRequest> = {}): Exchange => {
    const heard = new HeardResponse();
    const request = { method: "GET", target: "/a?b", headers: [], body: null, ...over };
    return { heard, call: upstream.dispatch(address, request, heard) };
  };
  const outcomeOf = async ({ heard }: Exchange): Promise<HeardResponse> => {
    await eventually(() => heard.outcome !== undefined, { what: "the end of the call" });
    return heard;
  };
  const first = ({ connections }: RawReplica): Promise<ReplicaConnection> =>
    eventually(() => connections[0], { what: "a connection" });
  const until = (condition: () => boolean, what: string): Promise<boolean> => eventually(condition, { what });

  describe("sends", () => {
    test("the head with the replica's Host, and hears the answer as it was sent", async () => {
      const fn = await answering(
        "HTTP/1.1 203 So\r\nX-B: na\xefve\r\nx-a: 1\r\nX-B: 2\r\nContent-Length: 3\r\n\r\n\xffok",
      );
      const heard = await outcomeOf(
        send(closing(open()), fn.address, { headers: ["X-Own", "na\xefve", "x-own", "2"] }),
      );
      expect(heard).toMatchObject({ status: 203, body: "\xffok", outcome: "end" });
      expect(heard.headers).toEqual(["X-B", "na\xefve", "x-a", "1", "X-B", "2", "Content-Length", "3"]);
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

    test("no faster than the replica reads", async () => {
      const fn = await replica(undefined, ({ socket }) => void socket.pause());
      let made = 0;
      const body = new Readable({
        read() {
          made += 65_536;
          this.push(Buffer.alloc(65_536));
        },
      });
      const { heard, call } = send(closing(open()), fn.address, { method: "POST", body });
      let stuckAt = -1;
      await eventually(() => stuckAt === (stuckAt = made) && made > 0, { every: 200, what: "a stop" });
      expect(made).toBeLessThan(32 * mebibyte);
      (await first(fn)).socket.resume();
      await until(() => made > stuckAt + mebibyte, "more to be sent");
      call.abort();
      await until(() => body.destroyed, "the end of the body");
      expect(heard.outcome).toBeUndefined();
    });

    test.each<[string, Partial<UpstreamRequest>]>([
      ["a line's end in a value", { headers: ["X-A", "a\r\nX-B: b"] }],
      ["a character above a byte in a value", { headers: ["X-A", "\u010a"] }],
      ["a name that is none", { headers: ["X A", "a"] }],
      ["a blank in the target", { target: "/a b" }],
      ["another length than the body's", { method: "POST", headers: ["Content-Length", "3"], body: Buffer.from("ok") }],
    ])("nothing of a request that has %s", async (_name, over) => {
      const fn = await replica();
      expect(await outcomeOf(send(closing(open()), fn.address, over))).toMatchObject({ outcome: "refused" });
      expect(fn.connections.every(({ received }) => received === "")).toBe(true);
    });

    test.each<[string, () => Readable, readonly string[]]>([
      ["breaks", () => breaking("ab"), []],
      ["is given up", () => givenUp("ab"), []],
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

  describe("hears", () => {
    test.each([
      ["a body until the end", "HTTP/1.1 200 OK\r\n\r\nrest", { status: 200, body: "rest" }],
      ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", { status: 200, body: "ok" }],
      [
        "chunks without their trailers",
        chunkedAnswer("3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX-Sum: 1\r\n\r\n"),
        { body: "hello" },
      ],
      ["204", "HTTP/1.1 204 No\r\n\r\n", { status: 204, body: "" }],
      ["304 with a length", "HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n", { status: 304, body: "" }],
      ["an answer behind interim ones", `${"HTTP/1.1 103 Early\r\nLink: a\r\n\r\n".repeat(10)}${ok}`, { body: "ok" }],
    ])("%s", async (_name, answer, expected) => {
      const fn = await replica(({ socket }) => void socket.end(Buffer.from(answer, "latin1")));
      expect(await outcomeOf(send(closing(open()), fn.address))).toMatchObject({ outcome: "end", ...expected });
    });

    test("no body in an answer to HEAD", async () => {
      const fn = await answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
      const heard = await outcomeOf(send(closing(open()), fn.address, { method: "HEAD" }));
      expect(heard).toMatchObject({ status: 200, body: "", outcome: "end", headers: ["Content-Length", "9"] });
    });

    test("a stream as it comes", async () => {
      const fn = await replica();
      const exchange = send(closing(open()), fn.address);
      const connection = await first(fn);
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
      await until(() => exchange.heard.body === "one", "the first piece");
      connection.write("3\r\ntwo\r\n0\r\n\r\n");
      expect(await outcomeOf(exchange)).toMatchObject({ body: "onetwo", outcome: "end" });
    });

    test.each([
      ["a length", "Content-Length: 33554432\r\n\r\n"],
      ["no length", "\r\n"],
    ])("no more than it takes of a body with %s", async (_name, framing) => {
      const fn = await replica(({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\n${framing}`);
        socket.end(Buffer.alloc(32 * mebibyte));
      });
      const exchange = send(closing(open()), fn.address);
      const { heard, call } = exchange;
      heard.takesMore = false;
      heard.keeps = false;
      let stuckAt = -1;
      await eventually(() => stuckAt === (stuckAt = heard.bytes) && stuckAt > 0, {
        every: 200,
        what: "a stop",
      });
      expect(stuckAt).toBeLessThan(mebibyte);
      call.resume();
      await until(() => heard.bytes > stuckAt, "more after one resume");
      heard.takesMore = true;
      call.resume();
      expect(await outcomeOf(exchange)).toMatchObject({ outcome: "end", bytes: 32 * mebibyte });
    });

    test("an answer that comes before the body was sent whole, and uses the connection no more", async () => {
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
      ["some chunks", chunkedAnswer("2\r\nok\r\n")],
    ])("that the connection broke after %s", async (_name, answer) => {
      for (const reset of [false, true]) {
        const fn = await replica((connection) => {
          connection.socket.write(answer, () => (reset ? connection.reset() : connection.socket.end()));
        });
        expect(await outcomeOf(send(closing(open()), fn.address))).toMatchObject({ outcome: "reset" });
      }
    });

    test.each([
      ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"],
      ["a change of protocol that nobody asked for", "HTTP/1.1 101 S\r\nUpgrade: foo\r\nConnection: upgrade\r\n\r\n"],
      ["a chunk that is none", chunkedAnswer("zz\r\n")],
      ["no HTTP", "220 smtp ready\r\n"],
    ])("that the answer is malformed: %s", async (_name, answer) => {
      const fn = await answering(answer);
      expect(await outcomeOf(send(closing(open()), fn.address))).toMatchObject({ outcome: "malformed" });
      const connection = await first(fn);
      await until(() => connection.ended, "the connection to close");
    });

    test("that nobody listens", async () => {
      expect(await outcomeOf(send(closing(open()), await freeAddress()))).toMatchObject({ outcome: "refused" });
    });
  });

  describe("keeps connections", () => {
    test("for the next call, and has one for each call at a time", async () => {
      const fn = await answering(ok);
      const upstream = closing(open());
      for (let round = 0; round < 5; round += 1)
        expect(await outcomeOf(send(upstream, fn.address))).toMatchObject({ body: "ok", outcome: "end" });
      expect(fn.connections).toHaveLength(1);
      const exchanges = Array.from({ length: 20 }, () => send(upstream, fn.address));
      for (const exchange of exchanges) expect(await outcomeOf(exchange)).toMatchObject({ body: "ok" });
      expect(fn.connections.length).toBeLessThanOrEqual(20);
    });

    test("but not one that said more than it was asked", async () => {
      const fn = await answering(ok);
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
    ])("but not one that the replica %s in the very moment of the next call", async (_name, spoil) => {
      const fn = await answering(ok);
      const upstream = closing(open());
      await outcomeOf(send(upstream, fn.address));
      // Without a turn of the event loop between: nobody can have noticed.
      spoil(await first(fn));
      const next = send(upstream, fn.address);
      expect(await outcomeOf(next)).toMatchObject({ body: "ok", outcome: "end" });
      expect(fn.connections).toHaveLength(2);
    });

    test.each([
      ["that the replica closed", "", true],
      ["that the replica means to close", "Connection: close\r\n", false],
      ["that the replica keeps for too short", "Keep-Alive: timeout=1\r\n", false],
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
      const fn = await answering("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3\r\nContent-Length: 2\r\n\r\nok");
      const began = performance.now();
      await outcomeOf(send(closing(open()), fn.address));
      const connection = await first(fn);
      await until(() => connection.ended, "the connection to close");
      expect(performance.now() - began).toBeGreaterThan(900);
      expect(performance.now() - began).toBeLessThan(3_000);
    });

    test("until the replica is forgotten, and those in use until the end of their calls", async () => {
      const fn = await replica();
      const upstream = closing(open());
      const [early, late] = [send(upstream, fn.address), send(upstream, fn.address)];
      await until(() => fn.connections.every(({ received }) => received !== "") && fn.connections.length === 2, "both");
      fn.connections[0]?.write(ok);
      await until(() => early.heard.outcome !== undefined || late.heard.outcome !== undefined, "one answer");
      upstream.release(fn.address);
      await until(() => fn.connections[0]?.ended === true, "the idle one to close");
      expect(fn.connections[1]?.ended).toBe(false);
      fn.connections[1]?.write(ok);
      expect([await outcomeOf(early), await outcomeOf(late)]).toMatchObject([{ body: "ok" }, { body: "ok" }]);
      await until(() => fn.connections[1]?.ended === true, "the other one to close");
    });

    test("until it is closed itself, calls and all", async () => {
      const fn = await answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
      const upstream = open();
      const exchange = send(upstream, fn.address);
      await until(() => exchange.heard.body === "half", "a part of the answer");
      await upstream.close();
      expect(await outcomeOf(exchange)).toMatchObject({ outcome: "reset" });
      const connection = await first(fn);
      await until(() => connection.ended, "the connection to close");
    });
  });

  describe("abort", () => {
    test("before anything was sent is heard by nobody", async () => {
      const fn = await answering(ok);
      const upstream = closing(open());
      const { heard, call } = send(upstream, fn.address);
      call.abort();
      call.abort();
      call.resume();
      expect(await outcomeOf(send(upstream, fn.address))).toMatchObject({ body: "ok" });
      expect([heard.outcome, heard.status]).toEqual([undefined, 0]);
    });

    test.each(["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])(
      "closes the connection that has answered %j, and nothing more is heard",
      async (answer) => {
        const fn = await answering(answer);
        const { heard, call } = send(closing(open()), fn.address);
        const connection = await first(fn);
        await until(() => connection.received.includes("\r\n\r\n") && (answer === "" || heard.body === "half"), "all");
        call.abort();
        await until(() => connection.ended, "the connection to close");
        expect(heard.outcome).toBeUndefined();
      },
    );

    test("within the listener stops the answer there", async () => {
      const fn = await answering(chunkedAnswer("1\r\na\r\n1\r\nb\r\n0\r\n\r\n"));
      const heard = new HeardResponse();
      const onData = heard.onData.bind(heard);
      heard.onData = (chunk) => {
        call.abort();
        return onData(chunk);
      };
      const request = { method: "GET", target: "/", headers: [], body: null };
      const call = closing(open()).dispatch(fn.address, request, heard);
      const connection = await first(fn);
      await until(() => connection.ended, "the connection to close");
      expect([heard.body, heard.outcome]).toEqual(["a", undefined]);
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

    test("hands the connection over with all that came on it", async () => {
      const fn = await answering(`${switching}early`);
      const heard = await outcomeOf(send(closing(open()), fn.address, { upgrade: "websocket" }));
      expect(heard).toMatchObject({ outcome: "upgrade", status: 0 });
      expect(heard.headers.slice(-2)).toEqual(["X-Own", "1"]);
      const connection = await first(fn);
      expect(connection.received.toLowerCase()).toContain("\r\nconnection: upgrade\r\nupgrade: websocket\r\n");
      let text = "";
      heard.connection?.on("data", (chunk: Buffer) => (text += chunk.toString()));
      connection.write("late");
      await until(() => text === "earlylate", "what came");
      heard.connection?.write("back");
      await until(() => connection.received.endsWith("back"), "what was sent");
      heard.connection?.destroy();
      await until(() => connection.ended, "the end");
    });

    test("works where calls went before, and calls go on", async () => {
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

    test("is over with the listener, not with the upstream", async () => {
      const fn = await answering(switching);
      const upstream = open();
      const { connection } = await outcomeOf(send(upstream, fn.address, { upgrade: "websocket" }));
      await upstream.close();
      expect(connection?.destroyed).toBe(false);
      connection?.destroy();
      if (connection !== undefined) await once(connection, "close");
    });

    test("that is not agreed to is a call as any other, paused too", async () => {
      const fn = await replica(({ socket }) => {
        socket.write("HTTP/1.1 426 No\r\nContent-Length: 8388608\r\n\r\n");
        socket.write(Buffer.alloc(8 * mebibyte));
      });
      const exchange = send(closing(open()), fn.address, { upgrade: "websocket" });
      exchange.heard.takesMore = false;
      exchange.heard.keeps = false;
      await until(() => exchange.heard.bytes > 0, "the first of it");
      expect(exchange.heard.bytes).toBeLessThan(mebibyte);
      exchange.heard.takesMore = true;
      exchange.call.resume();
      expect(await outcomeOf(exchange)).toMatchObject({ status: 426, bytes: 8 * mebibyte, outcome: "end" });
    });
  });
}

function chunkedAnswer(chunks: string): string {
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

function givenUp(chunk: string): Readable {
  const body = new Readable({ read: () => {} });
  body.push(chunk);
  body.once("data", () => setImmediate(() => body.destroy()));
  body.pause();
  return body;
}
