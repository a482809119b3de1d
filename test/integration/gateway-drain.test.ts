import { describe, expect, onTestFinished, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openHttp2Client } from "../support/http2-client.ts";
import { openRawClient, type RawClient } from "../support/raw-client.ts";
import { selfSigned } from "../support/self-signed.ts";
import { syncFixture } from "../support/sync-fixture.ts";
import type { SyncGateway } from "../support/sync-gateway.ts";

describe("a gateway that stops", () => {
  const { closing, open, serve } = syncFixture();
  const call = async (gateway: SyncGateway, path: string): Promise<RawClient> => {
    const client = await openRawClient(gateway.port);
    onTestFinished(() => client.close());
    client.send(`GET /function/${path} HTTP/1.1\r\nHost: g\r\n\r\n`);
    return client;
  };
  /** `/soon` replies on demand, `/stream` begins and continues, anything else never replies. */
  const opened = async (drainTimeout: number) => {
    const pending: (() => void)[] = [];
    const fn = await serve((request, response) => {
      if (request.url === "/soon") pending.push(() => response.end("whole"));
      if (request.url !== "/stream") return;
      const ticking = setInterval(() => response.write("tick "), 50);
      response.on("close", () => clearInterval(ticking));
    });
    const gateway = await open({ upstreamTimeout: 60_000, server: { drainTimeout } });
    gateway.deploy("hello", { addresses: [fn.address] });
    return { fn, gateway, pending };
  };

  test("lets calls end for drain_timeout, then aborts the others and gives the reason", async () => {
    const { fn, gateway, pending } = await opened(1_500);
    const soon = await call(gateway, "hello/soon");
    const stream = await call(gateway, "hello/stream");
    const never = await call(gateway, "hello/never");
    await eventually(() => fn.open === 3 && stream.text.includes("tick"), { what: "three calls in flight" });

    gateway.gateway.drain();
    const began = performance.now();
    const closed = gateway.gateway.close();
    for (const reply of pending) reply();
    expect(await soon.replies(1)).toMatchObject([{ status: 200, body: "whole" }]);
    await closed;
    expect(performance.now() - began).toBeGreaterThan(1_450);

    await Promise.all([stream.end(), never.end()]);
    expect(stream.text).toContain("tick");
    expect(stream.text).not.toContain("\r\n0\r\n");
    expect(never.text).toBe("");
    await expect.poll(() => gateway.cuts).toEqual(["draining", "draining"]);
    await expect
      .poll(() => gateway.lines.map(({ status }) => status).toSorted((a, b) => a - b))
      .toEqual([200, 503, 503]);
    await eventually(() => fn.open === 0, { what: "the end of the function's requests" });
  });

  test("waits no longer than its last call", async () => {
    const { fn, gateway, pending } = await opened(600_000);
    const soon = await call(gateway, "hello/soon");
    await eventually(() => fn.open === 1, { what: "a call in flight" });
    const closed = gateway.gateway.close();
    for (const reply of pending) reply();
    expect(await soon.replies(1)).toMatchObject([{ status: 200, body: "whole" }]);
    await closed;
    expect(gateway.cuts).toEqual([]);
  });

  test("aborts a call that still waits for a replica, and wakes nothing for it", async () => {
    const gateway = await open({ wakeTimeout: 60_000, server: { drainTimeout: 300 } });
    gateway.deploy("cold", { replicas: 0 });
    const waiting = await call(gateway, "cold");
    await eventually(() => gateway.waker.waitingCallers === 1, { what: "a caller that waits" });
    await gateway.gateway.close();
    await waiting.end();
    expect(waiting.text).toBe("");
    await expect.poll(() => gateway.cuts).toEqual(["draining"]);
    await eventually(() => gateway.waker.waitingCallers === 0, { what: "no caller to wait" });
  });

  test("resets streams of HTTP/2, too", async () => {
    const tls = await selfSigned();
    const fn = await serve((_request, response) => void response.write("begun"));
    const gateway = await open({ server: { tls, drainTimeout: 300 } });
    gateway.deploy("stream", { addresses: [fn.address] });
    const client = closing(await openHttp2Client(gateway.port, tls.cert));
    const asked = client.ask({ ":path": "/function/stream" });
    const reset = expect(asked).rejects.toThrow(/INTERNAL_ERROR/);
    await eventually(() => fn.open === 1, { what: "a call in flight" });
    await gateway.gateway.close();
    await reset;
    await expect.poll(() => gateway.cuts).toEqual(["draining"]);
  });
});
