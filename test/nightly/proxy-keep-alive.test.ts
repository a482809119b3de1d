import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";
import { describe, expect, test } from "vitest";

import { noProxy, openProxy } from "../support/proxy-in-front.ts";
import { proxyKinds } from "../support/proxy-programs.ts";
import { syncFixture } from "../support/sync-fixture.ts";

const connections = 60;
/** Idle times around those after which a proxy or Weir closes a connection; milliseconds. */
const [shortest, step] = [54_000, 250] as const;

for (const kind of proxyKinds) {
  describe.skipIf(noProxy(kind) !== undefined)(`${kind} in front`, () => {
    const { open, serve, closing } = syncFixture();

    test("never uses a connection that Weir closes: no 502 after any idle time", async () => {
      let release = (): void => {};
      const all = new Promise<void>((resolve) => (release = resolve));
      let waiting = 0;
      const fn = await serve((request_, response) => {
        if (request_.url !== "/all") {
          response.end("ok");
          return;
        }
        if ((waiting += 1) === connections) release();
        void all.then(() => response.end("ok"));
      });
      const gateway = await open({ upstreamTimeout: 20_000 });
      gateway.deploy("echo", { addresses: [fn.address] });
      const proxy = closing(await openProxy(kind, { gateways: [gateway] }));
      let closedByWeir = 0;
      let opened = 0;
      gateway.gateway.listener.on("connection", (socket: Socket) => {
        opened += 1;
        let left = false;
        const leave = (): void => void (left = true);
        // haproxy closes with a reset.
        socket.once("end", leave).once("error", leave);
        socket.once("close", () => (closedByWeir += left ? 0 : 1));
      });

      const agent = new Agent({ pipelining: 0 });
      const call = async (path: string): Promise<number> => {
        const { statusCode, body } = await request(`${proxy.url}/function/echo${path}`, {
          method: "POST",
          body: "x",
          dispatcher: agent,
        });
        await body.dump();
        return statusCode;
      };
      await Promise.all(Array.from({ length: connections }, () => call("/all")));
      expect(opened).toBe(connections);
      await pause(shortest);
      for (let count = 0; count < connections; count += 1) {
        expect(await call("")).toBe(200);
        await pause(step);
      }
      expect(closedByWeir).toBe(0);
      await agent.close();
    });
  });
}
