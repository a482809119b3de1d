import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";

import { HttpUpstream } from "../../runtime/adapters/http/upstream/http-upstream.ts";
import { eventually } from "../support/eventually.ts";
import { openRawClient, rawRequest, type RawClient } from "../support/raw-client.ts";
import { freeAddress, syncFixture } from "../support/sync-fixture.ts";

describe("a client that leaves", () => {
  const { open, serve, closing } = syncFixture();

  const ways: readonly (readonly [string, (client: RawClient) => void])[] = [
    // An end of both sides looks like that of one side until the client is sent something.
    ["closes", ({ socket }) => void socket.destroy()],
    ["ends its side, then resets", ({ socket }) => void socket.end(() => socket.resetAndDestroy())],
    ["resets", ({ socket }) => void socket.resetAndDestroy()],
  ];

  describe.each(ways)("that %s", (_name, leave) => {
    test.each([
      ["while the function is at zero", "cold", "GET", "", undefined],
      ["before the head", "silent", "GET", "", undefined],
      ["with all of its body sent", "silent", "POST", "Content-Length: 2\r\n", "hi"],
      ["in the middle of its body", "silent", "POST", "Content-Length: 9\r\n", "half"],
      ["in the middle of chunks", "silent", "POST", "Transfer-Encoding: chunked\r\n", "4\r\nhalf\r\n"],
      ["in the middle of the reply", "stream", "GET", "", undefined],
      ["while it reads nothing", "flood", "GET", "", undefined],
    ])("%s ends the call and the function's request", async (phase, name, method, more, body) => {
      const fn = await serve(
        (request, response) => {
          request.on("error", () => {}).resume();
          if (request.url === "/stream") {
            const timer = setInterval(() => response.write("begun"), 50);
            response.once("close", () => clearInterval(timer));
          }
          if (request.url === "/flood") {
            response.on("drain", () => response.write(Buffer.alloc(65_536)));
            while (response.write(Buffer.alloc(65_536)));
          }
        },
        { readBody: false },
      );
      const gateway = await open({ wakeTimeout: 60_000 });
      gateway.deploy("hello", name === "cold" ? { replicas: 0 } : { addresses: [fn.address] });
      const client = closing(await openRawClient(gateway.port));
      if (name === "flood") client.socket.pause();
      client.send(`${method} /function/hello/${name} HTTP/1.1\r\nHost: g\r\n${more}\r\n${body ?? ""}`);
      await expect.poll(() => fn.open + gateway.waker.waitingCallers).toBe(1);
      if (name === "stream") await expect.poll(() => client.text).toContain("begun");
      leave(client);

      await expect.poll(() => fn.open + gateway.waker.waitingCallers).toBe(0);
      await expect.poll(() => gateway.lines.length).toBe(1);
      // A request that was not whole is no load.
      const isWhole = !phase.startsWith("in the middle of its body") && !phase.startsWith("in the middle of chunks");
      expect(gateway.counts.of("hello.functions")).toMatchObject({ inFlight: 0, finished: isWhole ? 1 : 0 });
      expect(gateway.table.findKey("hello")?.replicas.every(({ inFlight }) => inFlight === 0)).toBe(true);
      const begun = name === "stream" || name === "flood";
      expect(gateway.lines.map(({ status }) => status)).toEqual([begun ? 200 : 499]);
    });
  });
});

describe("another replica", () => {
  const { open, serve, serveRaw, closing } = syncFixture();
  const call = "POST /function/hello HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\n\r\nwhole";

  test("is tried when one refuses, once, and not when that refuses too", async () => {
    const fn = await serve();
    const gateway = await open();
    gateway.deploy("hello", { addresses: [await freeAddress(), await freeAddress(), fn.address] });
    const statuses: number[] = [];
    for (let round = 0; round < 6; round += 1) statuses.push((await rawRequest(gateway.port, call)).status);
    expect(new Set(statuses)).toEqual(new Set([200, 502]));
    expect(fn.requests.every(({ body }) => body === "whole")).toBe(true);
    expect(gateway.table.findKey("hello")?.replicas.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
  });

  test.each([
    ["closes without a reply", (socket: Socket) => void socket.destroy()],
    ["replies with nonsense", (socket: Socket) => void socket.end("nonsense\r\n\r\n")],
    ["breaks in the middle", (socket: Socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")],
  ])("is not tried when one accepted the call and %s", async (_name, onConnection) => {
    const bad = await serveRaw(onConnection);
    const fn = await serve();
    const gateway = await open();
    gateway.deploy("hello", { addresses: [bad.address, fn.address] });
    await Promise.all(
      [rawRequest(gateway.port, call), rawRequest(gateway.port, call)].map((reply) => reply.catch(() => {})),
    );
    expect([bad.connections, fn.requests.length]).toEqual([1, 1]);
  });

  test("is waited for when the only one refuses because it was just scaled to zero", async () => {
    const fn = await serve();
    const upstream = closing(new HttpUpstream());
    const gone = await freeAddress();
    const gateway = await open({
      upstreamTimeout: 1_000,
      invoker: {
        upstream: {
          dispatch: (address, request, listener) => {
            // As if the table had changed while the call was on its way.
            if (address === gone) gateway.setReplicas("hello", []);
            return upstream.dispatch(address, request, listener);
          },
          release: (address) => upstream.release(address),
          close: () => upstream.close(),
        },
      },
    });
    gateway.deploy("hello", { replicas: 1, addresses: [gone] });
    const begun = performance.now();
    const reply = rawRequest(gateway.port, call);
    await expect.poll(() => gateway.waker.waitingCallers).toBe(1);
    // The timeout of the call does not run while it waits.
    await eventually(() => performance.now() > begun + 1_300, { what: "more than its own time" });
    gateway.setReplicas("hello", [fn.address]);
    expect((await reply).status).toBe(200);
    expect(fn.requests.map(({ body }) => body)).toEqual(["whole"]);
  });

  test("comes and goes: its caller waits for the next one no longer than the wake timeout in all", async () => {
    const upstream = closing(new HttpUpstream());
    const gone = await freeAddress();
    const gateway = await open({
      wakeTimeout: 3_000,
      invoker: {
        upstream: {
          dispatch: (address, request, listener) => {
            gateway.setReplicas("hello", []);
            return upstream.dispatch(address, request, listener);
          },
          release: (address) => upstream.release(address),
          close: () => upstream.close(),
        },
      },
    });
    gateway.deploy("hello", { replicas: 0 });
    const begun = performance.now();
    const reply = rawRequest(gateway.port, call);
    await expect.poll(() => gateway.waker.waitingCallers).toBe(1);
    await eventually(() => performance.now() > begun + 2_100, { what: "most of the time" });
    gateway.setReplicas("hello", [gone]);
    expect((await reply).status).toBe(503);
    expect(performance.now() - begun).toBeGreaterThan(2_900);
    // A wait that was restarted would end after 5.1 s.
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  test("never gets the call of a caller that left meanwhile", async () => {
    const fn = await serve();
    const gateway = await open();
    gateway.deploy("hello", { replicas: 0 });
    const client = await openRawClient(gateway.port);
    client.send(call);
    await expect.poll(() => gateway.waker.waitingCallers).toBe(1);
    const left = once(client.socket, "close");
    client.close();
    await left;
    await expect.poll(() => gateway.waker.waitingCallers).toBe(0);
    gateway.setReplicas("hello", [fn.address]);
    await rawRequest(gateway.port, call);
    expect(fn.requests).toHaveLength(1);
  });
});
