import type { IncomingMessage, ServerResponse } from "node:http";

import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openCallLoops } from "../support/call-loops.ts";
import { eventually } from "../support/eventually.ts";
import { noProxy, openProxy, type FrontProxy } from "../support/proxy-in-front.ts";
import { proxyKinds } from "../support/proxy-programs.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openLedger } from "../support/ledger.ts";
import { notAccepted, sendLoad } from "../support/load.ts";
import { settleAccount } from "../support/platform-account.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { recordRuns } from "../support/record-runs.ts";
import { requestFrom } from "../support/request-from.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const reloads = 3;

/** Sends numbered events until `end`, then one with their count. */
class EventStream {
  readonly #response: ServerResponse;
  readonly #ticking: NodeJS.Timeout;
  #count = 0;

  constructor(response: ServerResponse) {
    this.#response = response.setHeader("Content-Type", "text/event-stream");
    this.#ticking = setInterval(() => this.#send(), 50);
    this.#send();
  }

  end(): void {
    clearInterval(this.#ticking);
    this.#response.end(`data: end ${this.#count}\n\n`);
  }

  #send(): void {
    this.#response.write(`data: ${(this.#count += 1)}\n\n`);
  }
}

for (const kind of proxyKinds) {
  describe.skipIf(noProxy(kind) !== undefined)(`a platform behind ${kind}`, () => {
    let platform: Platform;
    let fn: FunctionServer;
    const streams: EventStream[] = [];

    beforeAll(async () => {
      platform = await openPlatform({
        slots: 16,
        // The streams last as long as the test.
        upstreamTimeout: 120_000,
        gatewayFlags: ["--trusted-proxies", "127.0.0.1", "--access-log", "true"],
      });
      fn = await openFunctionServer((incoming: IncomingMessage, response: ServerResponse) => {
        if (incoming.url === "/stream") streams.push(new EventStream(response));
        else response.end(JSON.stringify(incoming.headers));
      });
      await platform.deploy("plain", { addresses: [fn.address] });
    });
    afterAll(async () => {
      for (const stream of streams.splice(0)) stream.end();
      await platform?.close();
      await fn?.close();
    });
    const front = (): Promise<FrontProxy> =>
      openProxy(kind, { gateways: [{ port: platform.port, adminPort: Number(platform.gateway.ready["adminPort"]) }] });

    test("the proxy names the client: in the log, for the function, and when logins are counted", async () => {
      await using proxy = await front();
      const forged = { "x-forwarded-for": "10.1.1.1", "x-forwarded-host": "elsewhere", "x-forwarded-proto": "gopher" };
      const called = await requestFrom("127.0.0.2", `${proxy.url}/function/plain`, { headers: forged });
      const headers = JSON.parse(called.body) as Record<string, string>;
      expect(headers).toMatchObject({
        "x-forwarded-for": "127.0.0.2, 127.0.0.1",
        "x-forwarded-host": `127.0.0.1:${proxy.port}`,
        "x-forwarded-proto": "http",
      });
      await eventually(() => platform.gateway.log.some((line) => line["callId"] === headers["x-call-id"]), {
        what: "the line of the call",
      });
      const line = platform.gateway.log.find(({ callId }) => callId === headers["x-call-id"]);
      expect(line).toMatchObject({ msg: "call", client: "127.0.0.2" });

      const login = async (from: string, base: string, forwardedFor = from): Promise<number> => {
        const wrong = { authorization: `Basic ${btoa("admin:wrong")}`, "x-forwarded-for": forwardedFor };
        return (await requestFrom(from, `${base}/system/functions`, { headers: wrong })).status;
      };
      for (let count = 0; count < 20; count += 1) {
        expect(await login("127.0.0.2", proxy.url, `10.1.1.${count}`)).toBe(401);
      }
      expect(await login("127.0.0.2", proxy.url, "10.1.1.99")).toBe(429);
      expect(await login("127.0.0.3", proxy.url)).toBe(401);
      // A client that bypasses the proxy is known by its own address.
      expect(await login("127.0.0.3", platform.url, "127.0.0.2")).toBe(401);
      expect(await login("127.0.0.2", platform.url, "127.0.0.3")).toBe(429);
    });

    test("a reload of the proxy under load loses nothing", async () => {
      await using directory = await tempDirectory("ledger");
      const [writer, sender] = [openLedger(directory.path, "function"), openLedger(directory.path, "sender")];
      const working = await openFunctionServer(recordRuns(writer, (_request, response) => response.end()));
      await platform.deploy("working", { addresses: [working.address] });
      await using proxy = await front();

      const stop = new AbortController();
      const load = sendLoad({
        gateway: proxy.url,
        functionName: "working",
        rate: 50,
        count: 10_000,
        // A connection for each: a reset instead of a response would count as unknown.
        headers: { connection: "close" },
        ledger: sender,
        signal: stop.signal,
      });
      await using fresh = openCallLoops({ url: `${proxy.url}/function/plain`, callers: 2, kept: false });
      await using kept = openCallLoops({ url: `${proxy.url}/function/plain`, callers: 2, kept: true });
      const more = () => Promise.all([fresh.more(30), kept.more(30)]);
      const agent = new Agent({ pipelining: 0 });
      const streamed = await Promise.all(
        Array.from({ length: 4 }, () => request(`${proxy.url}/function/plain/stream`, { dispatcher: agent })),
      );
      const texts = Promise.all(streamed.map(({ body }) => body.text()));
      for (let count = 0; count < reloads; count += 1) {
        await more();
        await proxy.reload();
      }
      await more();

      expect(proxy.retiring()).toBeGreaterThan(0);
      for (const stream of streams.splice(0)) stream.end();
      for (const text of await texts) {
        const events = text.split("\n\n").slice(0, -1);
        const numbered = events.slice(0, -1).map((_event, index) => `data: ${index + 1}`);
        expect(events).toEqual([...numbered, `data: end ${numbered.length}`]);
      }
      expect(await fresh.stop()).toEqual([]);
      expect(await kept.stop()).toEqual([]);
      // By `option idle-close-on-response`, as its page in the documentation says.
      if (kind === "haproxy") expect(kept.repeated).toBe(0);
      stop.abort();
      const { sent } = await load;
      expect(sent.length).toBeGreaterThan(10);
      expect(notAccepted(sent)).toEqual([]);
      const { violations } = await settleAccount(platform, { directory: directory.path, within: 12_000 });
      expect(violations).toEqual([]);
      await agent.close();
      await eventually(() => proxy.retiring() === 0, { what: "the old processes to be gone" });
      for (const each of [writer, sender, working]) await each.close();
    });
  });
}
