import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openChaosProxy, type ChaosProxy } from "../../support/chaos-proxy.ts";
import { eventually } from "../../support/eventually.ts";

describe("a chaos proxy in front of an echo", () => {
  const opened: Socket[] = [];
  let chunks: Buffer[];
  let proxy: ChaosProxy;
  let closeEcho: () => Promise<void>;

  beforeEach(async () => {
    chunks = [];
    const echo = createServer((socket) => {
      opened.push(socket);
      socket.on("error", () => undefined);
      socket.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        socket.write(chunk);
      });
    });
    echo.listen(0, "127.0.0.1");
    await once(echo, "listening");
    closeEcho = async () => {
      echo.close();
      await once(echo, "close");
    };
    proxy = await openChaosProxy((echo.address() as AddressInfo).port);
  });

  afterEach(async () => {
    await proxy.close();
    for (const socket of opened.splice(0)) socket.destroy();
    await closeEcho();
  });

  async function client(): Promise<{
    socket: Socket;
    read: () => string;
    ended: () => boolean;
    closed: () => string | undefined;
  }> {
    const socket = connect(proxy.port, "127.0.0.1");
    opened.push(socket);
    let text = "";
    let ended = false;
    let error = "none";
    let closed = false;
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.on("end", () => (ended = true));
    socket.on("error", (err) => (error = "code" in err ? String(err.code) : err.message));
    socket.on("close", () => (closed = true));
    // A connection that is reset at once may never appear open.
    await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
    return { socket, read: () => text, ended: () => ended, closed: () => (closed ? error : undefined) };
  }
  const soon = <T>(what: string, condition: () => T) => eventually(condition, { what, every: 2 });

  test("passes bytes both ways, ends connections in turn and counts", async () => {
    const one = await client();
    one.socket.write("hello");
    await soon("the echo", () => one.read() === "hello");
    one.socket.end(" again");
    await soon("the end", () => one.ended());

    expect(one.read()).toBe("hello again");
    await soon("the end of both sides", () => proxy.counters().open === 0);
    expect(proxy.counters()).toEqual({ connections: 1, open: 0, bytesUp: 11, bytesDown: 11, broken: 0 });
  });

  test("holds bytes for latency and jitter, per direction", async () => {
    const one = await client();
    proxy.up({ latency: 80 });
    proxy.down({ latency: 40, jitter: 20 });
    const begin = performance.now();
    one.socket.write("slow");
    await soon("the echo", () => one.read() === "slow");

    expect(performance.now() - begin).toBeGreaterThanOrEqual(110);
  });

  test("passes no more than the rate, in slices", async () => {
    proxy.up({ rate: 1_000, slice: 10 });
    const one = await client();
    const begin = performance.now();
    one.socket.write("x".repeat(100));
    await soon("the echo", () => one.read().length === 100);

    expect(performance.now() - begin).toBeGreaterThanOrEqual(85);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(20);
  });

  test("a black hole swallows data and ends, also on open connections, until it is removed", async () => {
    const one = await client();
    one.socket.write("1");
    await soon("the first echo", () => one.read() === "1");
    proxy.up({ blackHole: true });
    proxy.down({ blackHole: true });
    one.socket.end("2");
    const two = await client();
    two.socket.write("3");
    await soon("the second connection", () => proxy.counters().connections === 2);
    expect(one.ended()).toBe(false);
    expect(chunks.join("")).toBe("1");

    proxy.heal();
    await soon("the held bytes", () => one.read() === "12" && two.read() === "3");
    await soon("the held end", () => one.ended());
  });

  test("resets all connections now", async () => {
    const both = [await client(), await client()];
    await soon("both connections", () => proxy.counters().open === 2);
    proxy.reset();
    for (const one of both) expect(await soon("the reset", () => one.closed())).toBe("ECONNRESET");

    expect(proxy.counters()).toMatchObject({ open: 0, broken: 2 });
    const again = await client();
    again.socket.write("still here");
    await soon("an echo", () => again.read() === "still here");
  });

  test("cuts a connection after so many bytes", async () => {
    proxy.down({ cutAfter: 4 });
    const one = await client();
    one.socket.write("123456");
    expect(await soon("the cut", () => one.closed())).toBe("ECONNRESET");

    expect("1234".startsWith(one.read())).toBe(true);
    expect(proxy.counters()).toMatchObject({ bytesUp: 6, bytesDown: 4, broken: 1 });
  });

  test("resets the n-th connection from now", async () => {
    proxy.closeNth(2);
    const first = await client();
    const second = await client();
    expect(await soon("the second's reset", () => second.closed())).toBe("ECONNRESET");
    first.socket.write("1");
    await soon("the first's echo", () => first.read() === "1");
    const third = await client();
    third.socket.write("3");
    await soon("the third's echo", () => third.read() === "3");
  });

  test("passes a reset of the upstream on, and follows a new target", async () => {
    const one = await client();
    one.socket.write("x");
    await soon("the echo", () => one.read() === "x");
    proxy.target(1);
    const nobody = await client();
    expect(await soon("the refusal", () => nobody.closed())).toBe("ECONNRESET");

    opened[1]?.resetAndDestroy();
    expect(await soon("the upstream's reset", () => one.closed())).toBe("ECONNRESET");
  });
});
