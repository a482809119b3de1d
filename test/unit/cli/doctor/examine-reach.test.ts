import { describe, expect, test } from "vitest";

import { examineReach } from "../../../../runtime/cli/doctor/examine-reach.ts";
import { openConnectProxy } from "../../../support/gateway-stand-in.ts";
import { freePort } from "../../../support/free-port.ts";
import { gatewayClientOf } from "../../../support/gateway-client-of.ts";
import { openScriptedGateway } from "../../../support/scripted-gateway.ts";

async function reach(address: string, proxyPort?: number) {
  await using to = await gatewayClientOf(address);
  const url = new URL(`http://127.0.0.1:${proxyPort ?? 0}`);
  const proxy = proxyPort === undefined ? undefined : { url, variable: "HTTPS_PROXY" };
  const bounds = { timeout: 500, signal: new AbortController().signal };
  return await examineReach({ address, proxy, tls: {}, bounds, client: to.client });
}

describe("a proxy", () => {
  const advice = "correct HTTPS_PROXY, or name weir.test in NO_PROXY";

  test.each(["https://weir.test", "http://weir.test"])("that is away is named on the way to %s", async (address) => {
    const port = await freePort();
    expect(await reach(address, port)).toEqual({
      isReached: false,
      findings: [
        {
          id: "proxy",
          level: "problem",
          subject: `proxy http://127.0.0.1:${port}`,
          sentence: `Cannot reach the gateway through the proxy at http://127.0.0.1:${port}: nothing listens there`,
          advice,
        },
      ],
    });
  });

  test("that refuses is named with what it replied", async () => {
    await using refusing = await openConnectProxy(undefined);
    const { findings } = await reach("https://weir.test", refusing.port);
    expect(findings).toMatchObject([
      { id: "proxy", sentence: expect.stringMatching(/: it replied 403 to CONNECT weir\.test:443$/) as string, advice },
    ]);
  });
});

test("a reply whose body does not end is not waited for", async () => {
  await using gateway = await openScriptedGateway((response) => {
    response.writeHead(200, { "content-length": "9" }).write("o");
  });
  const { findings, isReached } = await reach(gateway.url);
  expect(isReached).toBe(true);
  expect(findings.map(({ id, level }) => [id, level])).toEqual([
    ["tcp", "ok"],
    ["http", "ok"],
    ["clock", "ok"],
  ]);
});
