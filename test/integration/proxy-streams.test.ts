import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";

import { describe, expect, test } from "vitest";

import { parseDuration } from "../../runtime/api/duration.ts";
import { gatewaySettings } from "../../runtime/gateway/settings.ts";
import { noProxy, openProxy, shownConfig, type FrontProxy } from "../support/proxy-in-front.ts";
import { proxyKinds } from "../support/proxy-programs.ts";
import { requestFrom } from "../support/request-from.ts";
import { syncFixture } from "../support/sync-fixture.ts";
import { openWebSocketFunction } from "../support/websocket-function.ts";

const mebibyte = 1_048_576;

for (const kind of proxyKinds) {
  describe.skipIf(noProxy(kind) !== undefined)(`${kind}, configured as its page says,`, () => {
    const { open, serve, closing } = syncFixture();
    const front = async (name: string, address: string): Promise<FrontProxy> => {
      const gateway = await open();
      gateway.deploy(name, { addresses: [address] });
      return closing(await openProxy(kind, { gateways: [gateway] }));
    };
    const dataOf = async (readable: NodeJS.EventEmitter): Promise<string> => {
      const [chunk] = (await once(readable, "data")) as [Buffer];
      return chunk.toString();
    };

    test("passes on each chunk of a stream at once, both ways", async () => {
      const arrived = Promise.withResolvers<readonly [IncomingMessage, ServerResponse]>();
      const fn = await serve((incoming, response) => arrived.resolve([incoming, response]), { readBody: false });
      const { url } = await front("talk", fn.address);
      const client = httpRequest(`${url}/function/talk`, { method: "POST", agent: false });
      client.on("error", () => {});
      client.write("first");
      const [incoming, response] = await arrived.promise;
      expect(await dataOf(incoming)).toBe("first");
      const responded = once(client, "response");
      response.write("data: 1\n\n");
      const [reply] = (await responded) as [IncomingMessage];
      expect(await dataOf(reply)).toBe("data: 1\n\n");
      for (const text of ["a", "b", "c"]) {
        const there = dataOf(incoming);
        client.write(text);
        expect(await there).toBe(text);
        const back = dataOf(reply);
        response.write(`data: ${text}\n\n`);
        expect(await back).toBe(`data: ${text}\n\n`);
      }
      client.end();
      response.end();
      reply.resume();
      await once(reply, "end");
    });

    // haproxy notices it only when it writes.
    const moments = kind === "nginx" ? ["before the reply", "in the middle of it"] : ["in the middle of the reply"];
    test.each(moments)("passes on that the client left %s", async (moment) => {
      const isBefore = moment === "before the reply";
      const fn = await serve((_request, response) => {
        if (isBefore) return;
        const ticking = setInterval(() => response.write("data: tick\n\n"), 20);
        response.on("close", () => clearInterval(ticking));
      });
      const { url } = await front("talk", fn.address);
      const client = httpRequest(`${url}/function/talk`, { agent: false });
      client.on("error", () => {}).end();
      if (isBefore) await expect.poll(() => fn.open).toBe(1);
      else {
        const [reply] = (await once(client, "response")) as [IncomingMessage];
        reply.on("error", () => {});
        await dataOf(reply);
      }
      client.destroy();
      await expect.poll(() => fn.aborted).toBe(1);
    });

    test("passes WebSockets on, also over a reload", async () => {
      const fn = closing(await openWebSocketFunction());
      const proxy = await front("chat", fn.address);
      const socket = new WebSocket(`${proxy.url.replace("http", "ws")}/function/chat/room?user=2`);
      await once(socket, "open");
      const echo = async (text: string): Promise<unknown> => {
        const echoed = once(socket, "message");
        socket.send(text);
        const [event] = (await echoed) as [MessageEvent];
        return event.data;
      };
      expect(await echo("hello")).toBe("hello");
      await proxy.reload();
      expect(await echo("y".repeat(100_000))).toBe("y".repeat(100_000));
      expect(fn.handshakes[0]?.url).toBe("/room?user=2");
      const closed = once(socket, "close");
      socket.close(1000);
      expect(await closed).toMatchObject([{ code: 1000, wasClean: true }]);
      await expect.poll(() => fn.open).toBe(0);
    });

    test("passes 32 MiB on, there and back", async () => {
      const fn = await serve(
        (incoming, response) => {
          const chunks: Buffer[] = [];
          incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
          // Not sooner: nginx stops sending a large body once it has the response.
          incoming.on("end", () => response.end(Buffer.concat(chunks)));
        },
        { readBody: false },
      );
      const { url } = await front("large", fn.address);
      const body = Buffer.alloc(32 * mebibyte, "Weir ");
      const reply = await fetch(`${url}/function/large`, { method: "POST", body });
      const hash = (bytes: Buffer): string => createHash("sha1").update(bytes).digest("hex");
      expect(hash(Buffer.from(await reply.arrayBuffer()))).toBe(hash(body));
    });

    test("is not believed unless it is trusted, and passes path and query on unchanged", async () => {
      const fn = await serve((incoming, response) => response.end(JSON.stringify([incoming.url, incoming.headers])));
      const { url } = await front("echo", fn.address);
      const tail = "//a/%2e%2E/b;x/%C3%A9?q=%00&r=../+";
      const { body } = await requestFrom("127.0.0.2", `${url}/function/echo${tail}`);
      const [target, headers] = JSON.parse(body) as [string, Record<string, string>];
      expect(headers).toMatchObject({ "x-forwarded-for": "127.0.0.1" });
      expect(target).toBe(tail);
    });

    test("aborts nothing before Weir does, and closes idle connections to Weir before Weir does", async () => {
      const times = (name: RegExp): (number | undefined)[] =>
        [...shownConfig(kind).matchAll(new RegExp(`^ *(?:${name.source}) (\\w+)`, "gm"))].map(([, time = ""]) =>
          parseDuration(time),
        );
      const { websocketIdleTimeout, wakeTimeout, upstreamTimeout } = gatewaySettings;
      const limit = (setting: { readonly fallback?: string }): number =>
        parseDuration(setting.fallback ?? "") ?? Number.NaN;
      const longest = Math.max(limit(websocketIdleTimeout), limit(wakeTimeout) + limit(upstreamTimeout));
      const idleTimeouts = times(kind === "nginx" ? /proxy_(?:send|read)_timeout/ : /timeout (?:client|server|tunnel)/);
      expect(idleTimeouts).toHaveLength(kind === "nginx" ? 2 : 3);
      for (const idleTimeout of idleTimeouts) expect(idleTimeout).toBeGreaterThan(longest);

      // haproxy closes them after `pool-purge-delay`, 5 s.
      const [kept = 5_000] = kind === "nginx" ? times(/keepalive_timeout/) : [];
      const { gateway } = await open();
      expect(kept).toBeLessThanOrEqual(gateway.keepAlive - 5_000);
    });
  });
}
