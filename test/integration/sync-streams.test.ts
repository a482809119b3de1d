import type { ServerResponse } from "node:http";

import { describe, expect, onTestFinished, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openRawClient, rawRequest, type RawClient } from "../support/raw-client.ts";
import { syncFixture } from "../support/sync-fixture.ts";
import type { SyncGateway } from "../support/sync-gateway.ts";

/** Writes a byte every 50 ms, `count` in all, then ends. */
function drip(response: ServerResponse, count: number): void {
  let left = count;
  const ticking = setInterval(() => {
    response.write("x");
    left -= 1;
    if (left > 0) return;
    clearInterval(ticking);
    response.end();
  }, 50);
  response.on("close", () => clearInterval(ticking));
}

describe("the time of a call", () => {
  const { open, serve } = syncFixture();
  const begin = async (gateway: SyncGateway, head: string): Promise<RawClient> => {
    const client = await openRawClient(gateway.port);
    onTestFinished(() => client.close());
    client.send(head);
    return client;
  };

  /** The status of the only call, which metrics by function, metrics by route and the access log agree on. */
  const countedAs = async (gateway: SyncGateway): Promise<number | undefined> => {
    const line = await eventually(() => gateway.lines.at(-1), { what: "the end of the call" });
    const byFunction = [...gateway.counts.ended()].map(([{ code }]) => Number(code));
    const byRoute = [...gateway.routes.entries()].map(([{ code }]) => Number(code));
    expect([byFunction, byRoute]).toEqual([[line.status], [line.status]]);
    return line.status;
  };

  test("a reply that began continues as long as bytes flow, beyond upstream_timeout", async () => {
    const fn = await serve((_request, response) => drip(response, 40));
    const gateway = await open({ upstreamTimeout: 1_500 });
    gateway.deploy("drip", { addresses: [fn.address] });
    const reply = await rawRequest(gateway.port, "GET /function/drip HTTP/1.1\r\nHost: g\r\n\r\n");
    expect(reply).toMatchObject({ status: 200, body: "x".repeat(40) });
    expect(gateway.lines[0]?.duration).toBeGreaterThan(1_900);
    expect(gateway.cuts).toEqual([]);
  });

  test("one that is idle for stream_idle_timeout is aborted with that reason", async () => {
    const fn = await serve((_request, response) => void response.write("begun"));
    const gateway = await open({ upstreamTimeout: 1_000, invoker: { streamIdle: 1_500 } });
    gateway.deploy("silent", { addresses: [fn.address] });
    const client = await begin(gateway, "GET /function/silent HTTP/1.1\r\nHost: g\r\n\r\n");
    const began = performance.now();
    await client.end();
    expect(performance.now() - began).toBeGreaterThan(1_450);
    expect(client.text).toContain("begun");
    expect(client.text).not.toContain("\r\n0\r\n");
    await expect.poll(() => gateway.cuts).toEqual(["idle"]);
    expect(await countedAs(gateway)).toBe(504);
    await eventually(() => fn.open === 0, { what: "the end of the function's request" });
  });

  test("bytes of the request keep it open, too", async () => {
    const fn = await serve(
      (incoming, response) => {
        response.write("begun");
        incoming.on("end", () => response.end("ended")).resume();
      },
      { readBody: false },
    );
    const gateway = await open({ upstreamTimeout: 1_000, invoker: { streamIdle: 1_000 } });
    gateway.deploy("upload", { addresses: [fn.address] });
    const client = await begin(gateway, "POST /function/upload HTTP/1.1\r\nHost: g\r\nContent-Length: 30\r\n\r\n");
    let sent = 0;
    const sending = setInterval(() => {
      client.send("x");
      sent += 1;
      if (sent === 30) clearInterval(sending);
    }, 50);
    onTestFinished(() => clearInterval(sending));
    await eventually(() => client.text.includes("ended"), { what: "the end of the reply" });
    expect(gateway.cuts).toEqual([]);
  });

  test("a client that sends nothing more while its function replies is not aborted", async () => {
    const fn = await serve((_request, response) => drip(response, 20), { readBody: false });
    const gateway = await open({ server: { bodyIdleTimeout: 300 } });
    gateway.deploy("talk", { addresses: [fn.address] });
    const head = "POST /function/talk HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n";
    const client = await begin(gateway, head);
    await eventually(() => client.text.endsWith("0\r\n\r\n"), { what: "the end of the reply" });
    expect(gateway.cuts).toEqual([]);
  });

  test("a request that is still being sent does not extend the time to the head of its reply", async () => {
    const fn = await serve((incoming) => void incoming.resume(), { readBody: false });
    const gateway = await open({ upstreamTimeout: 500 });
    gateway.deploy("upload", { addresses: [fn.address] });
    const client = await begin(gateway, "POST /function/upload HTTP/1.1\r\nHost: g\r\nContent-Length: 999999\r\n\r\n");
    const sending = setInterval(() => client.send("x"), 50);
    onTestFinished(() => clearInterval(sending));
    await eventually(() => client.text.includes("no reply within upstream_timeout of 0.5 s"), { what: "the 504" });
    expect(client.text).toMatch(/^HTTP\/1\.1 504 /);
    expect(gateway.cuts).toEqual([]);
  });

  test("a reply that its replica aborts is aborted with that reason", async () => {
    const fn = await serve((_request, response) => {
      response.write("begun", () => response.destroy());
    });
    const gateway = await open();
    gateway.deploy("broken", { addresses: [fn.address] });
    const client = await begin(gateway, "GET /function/broken HTTP/1.1\r\nHost: g\r\n\r\n");
    await client.end();
    expect(client.text).toContain("begun");
    await expect.poll(() => gateway.cuts).toEqual(["replica"]);
    expect(await countedAs(gateway)).toBe(502);
  });

  test("a client that reads nothing is aborted with that reason", async () => {
    const fn = await serve((_request, response) => {
      const more = (): void => {
        while (response.write(Buffer.alloc(65_536)));
      };
      response.on("drain", more);
      response.on("close", () => response.off("drain", more));
      more();
    });
    const gateway = await open({ server: { bodyIdleTimeout: 600 } });
    gateway.deploy("flood", { addresses: [fn.address] });
    const client = await openRawClient(gateway.port);
    onTestFinished(() => client.close());
    client.socket.pause();
    client.send("GET /function/flood HTTP/1.1\r\nHost: g\r\n\r\n");
    await expect.poll(() => gateway.cuts).toEqual(["unread"]);
    expect(await countedAs(gateway)).toBe(499);
    await eventually(() => fn.open === 0, { what: "the end of the function's request" });
  });

  test("a client that leaves does not count as an abort", async () => {
    const fn = await serve((_request, response) => void response.write("begun"));
    const gateway = await open();
    gateway.deploy("left", { addresses: [fn.address] });
    const client = await begin(gateway, "GET /function/left HTTP/1.1\r\nHost: g\r\n\r\n");
    await eventually(() => client.text.includes("begun"), { what: "the first bytes" });
    client.close();
    await eventually(() => gateway.lines.length === 1, { what: "the end of the call" });
    expect(gateway.cuts).toEqual([]);
    expect(await countedAs(gateway)).toBe(200);
  });
});
