import { describe, expect, test } from "vitest";

import { openCallLoops } from "../support/call-loops.ts";
import { eventually } from "../support/eventually.ts";
import { noProxy, openProxy } from "../support/proxy-in-front.ts";
import { proxyKinds } from "../support/proxy-programs.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { rawRequest } from "../support/raw-client.ts";
import { syncFixture } from "../support/sync-fixture.ts";
import type { SyncGateway } from "../support/sync-gateway.ts";

const get = "GET /function/echo HTTP/1.1\r\nHost: g\r\n\r\n";

describe("a gateway that stops behind a proxy", () => {
  const { open, serve, closing } = syncFixture();

  /** A gateway with the function, and a port whose `/readyz` tells whether the gateway is in service. */
  const openReady = async (address: string) => {
    const gateway = await open();
    gateway.deploy("echo", { addresses: [address] });
    const admin = closing(
      await openFunctionServer((_request, response) => {
        response.writeHead(gateway.gateway.draining ? 503 : 200).end();
      }),
    );
    return { gateway, port: gateway.port, adminPort: Number(admin.address.split(":")[1]) };
  };
  const calls = (gateway: SyncGateway): number => gateway.lines.length;

  for (const kind of proxyKinds) {
    test.skipIf(noProxy(kind) !== undefined)(
      `${kind} notices that a gateway drains and uses the other one: no call fails`,
      async () => {
        const echo = await serve();
        const [first, second] = [await openReady(echo.address), await openReady(echo.address)];
        await using proxy = await openProxy(kind, { gateways: [first, second] });
        const url = `${proxy.url}/function/echo`;
        await using fresh = openCallLoops({ url, callers: 4, kept: false });
        await using kept = openCallLoops({ url, callers: 4, kept: true });
        const more = () => Promise.all([fresh.more(50), kept.more(50)]);
        await more();
        expect(calls(first.gateway)).toBeGreaterThan(20);
        expect(calls(second.gateway)).toBeGreaterThan(20);

        first.gateway.gateway.drain();
        expect((await rawRequest(first.port, get)).headers["connection"]).toBe("close");
        // nginx does not check readiness, so it is told, as its page in the documentation says.
        if (kind === "nginx") await proxy.reload([{ ...first, down: true }, second]);
        await eventually(
          async () => {
            const before = calls(first.gateway);
            await more();
            return calls(first.gateway) === before;
          },
          { what: "the proxy to go to the other one" },
        );
        await first.gateway.gateway.close();
        await more();
        expect(await fresh.stop()).toEqual([]);
        expect(await kept.stop()).toEqual([]);
        if (kind === "haproxy") expect(kept.repeated).toBe(0);
      },
    );
  }
});
