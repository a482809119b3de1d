import { once } from "node:events";
import type { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";

import { openRawClient } from "../support/raw-client.ts";
import { syncFixture } from "../support/sync-fixture.ts";
import { openWebSocketFunction } from "../support/websocket-function.ts";

const mebibyte = 1_048_576;
const handshake = (target: string): string =>
  `GET ${target} HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

describe("the life of a WebSocket", () => {
  const { open, serveRaw, closing } = syncFixture();

  /** A function whose connections the test holds, and one client connected to each. */
  const joined = async (...options: Parameters<typeof open>) => {
    const peers: Duplex[] = [];
    const fn = closing(await openWebSocketFunction(undefined, (connection) => void peers.push(connection)));
    const gateway = await open(...options);
    gateway.deploy("chat", { addresses: [fn.address] });
    const client = closing(await openRawClient(gateway.port));
    client.send(handshake("/function/chat"));
    await expect.poll(() => client.text).toContain("\r\n\r\n");
    const [peer] = peers;
    if (peer === undefined) throw new Error("no connection came");
    return { fn, gateway, client, peer, counts: gateway.counts.of("chat.functions") };
  };

  test("a function that sends faster than the client reads is paused, and nothing is lost", async () => {
    const { client, peer } = await joined();
    client.socket.removeAllListeners("data");
    client.socket.pause();
    let written = 0;
    let received = 0;
    const more = (): void => {
      while (written < 64 * mebibyte) {
        written += mebibyte;
        if (!peer.write(Buffer.alloc(mebibyte, written / mebibyte))) return;
      }
      peer.end();
    };
    peer.on("drain", more);
    more();
    let stoppedAt = -1;
    await expect.poll(() => stoppedAt === (stoppedAt = written), { interval: 200 }).toBe(true);
    expect(stoppedAt).toBeLessThan(32 * mebibyte);
    client.socket.on("data", (chunk: Buffer) => (received += chunk.length)).resume();
    await once(client.socket, "end");
    expect(received).toBe(64 * mebibyte);
  });

  test("a client that sends faster than the function reads is paused, and nothing is lost", async () => {
    const { client, peer, counts } = await joined();
    peer.pause();
    let received = 0;
    client.socket.end(Buffer.alloc(64 * mebibyte, 1));
    let stoppedAt = -1;
    await expect
      .poll(() => stoppedAt === (stoppedAt = client.socket.bytesWritten - client.socket.writableLength), {
        interval: 200,
      })
      .toBe(true);
    expect(stoppedAt).toBeLessThan(32 * mebibyte);
    peer.on("data", (chunk: Buffer) => (received += chunk.length)).resume();
    await once(peer, "end");
    expect(received).toBe(64 * mebibyte);
    peer.end("done");
    await expect.poll(() => client.text.endsWith("done")).toBe(true);
    await expect.poll(() => counts.inFlight).toBe(0);
  });

  test.each(["ends", "breaks"])("a client that %s ends the function's connection", async (how) => {
    const { fn, client, peer, counts } = await joined();
    peer.on("end", () => peer.end()).resume();
    if (how === "ends") client.socket.end();
    else client.socket.resetAndDestroy();
    await expect.poll(() => fn.open).toBe(0);
    await expect.poll(() => counts).toMatchObject({ inFlight: 0, finished: 1 });
  });

  test.each(["ends", "breaks"])("a function that %s ends the client's connection", async (how) => {
    const { client, peer, counts } = await joined();
    if (how === "ends") peer.end("last words");
    else peer.destroy();
    await client.end();
    expect(client.text.endsWith("last words")).toBe(how === "ends");
    client.close();
    await expect.poll(() => counts).toMatchObject({ inFlight: 0, finished: 1 });
  });

  test("one side that ended while the other continues is aborted 5 s later", async () => {
    const { client, peer, counts } = await joined({ invoker: { webSocketIdle: 60_000 } });
    const began = performance.now();
    client.socket.end();
    peer.resume();
    await once(peer, "end");
    expect(counts.inFlight).toBe(1);
    await expect.poll(() => counts.inFlight, { timeout: 6_000 }).toBe(0);
    expect(performance.now() - began).toBeGreaterThan(4_500);
  });

  test.each(["ends", "breaks"])("a client that %s before the 101 ends the call", async (how) => {
    const silent = await serveRaw(() => {});
    const gateway = await open();
    gateway.deploy("silent", { addresses: [silent.address] });
    gateway.deploy("cold", { replicas: 0 });
    for (const name of ["silent", "cold"]) {
      const client = await openRawClient(gateway.port);
      client.send(handshake(`/function/${name}`));
      const counts = gateway.counts.of(`${name}.functions`);
      await expect.poll(() => [silent.open, gateway.waker.waitingCallers].some((count) => count === 1)).toBe(true);
      if (how === "ends") client.socket.end();
      else client.socket.resetAndDestroy();
      await expect.poll(() => counts).toMatchObject({ inFlight: 0, finished: 1 });
      await expect.poll(() => [silent.open, gateway.waker.waitingCallers]).toEqual([0, 0]);
      client.close();
    }
    expect(gateway.lines.map(({ status }) => status)).toEqual([499, 499]);
  });

  test("closing the gateway leaves it its grace, then aborts it", async () => {
    const { gateway, client, peer } = await joined({ server: { drainTimeout: 1_500 } });
    gateway.gateway.drain();
    const began = performance.now();
    const closed = gateway.gateway.close();
    peer.write("still here");
    await expect.poll(() => client.text.endsWith("still here")).toBe(true);
    await closed;
    expect(performance.now() - began).toBeGreaterThan(1_450);
    await client.end();
    peer.resume();
    await once(peer, "end");
    await expect.poll(() => gateway.cuts).toEqual(["draining"]);
  });

  test("closing the gateway waits no longer than the last one lives", async () => {
    const { gateway, client, peer } = await joined({ server: { drainTimeout: 60_000 } });
    const closed = gateway.gateway.close();
    peer.end();
    await client.end();
    client.close();
    await closed;
  });

  test("an address that is no longer served ends its WebSockets", async () => {
    const fn = closing(await openWebSocketFunction());
    const gateway = await open();
    gateway.deploy("chat", { addresses: [fn.address] });
    await gateway.gateway.listenAlso([{ host: "127.0.0.2", port: gateway.port }]);
    const socket = closing(new WebSocket(`ws://127.0.0.2:${gateway.port}/function/chat`));
    await once(socket, "open");
    expect(fn.open).toBe(1);
    await gateway.gateway.listenAlso([]);
    await expect.poll(() => fn.open).toBe(0);
  });
});
