import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { openFunctionServer, type FunctionHandler, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform, type PlatformOptions } from "../support/platform.ts";

/** Each begins its reply and never completes it. */
const functions: Readonly<Record<string, FunctionHandler>> = {
  broken: (_request, response) => void response.write("begun", () => response.destroy()),
  endless: (_request, response) => void response.write("begun"),
  left: (_request, response) => void response.write("begun"),
};

const ways: readonly (readonly [way: string, options: () => Promise<PlatformOptions>, counts: "worker" | "gateway"])[] =
  [
    ["straight to the replica", async () => ({}), "worker"],
    [
      "through the gateway",
      async () => {
        const port = await freePort();
        return {
          gatewayFlags: [`--port=${port}`],
          workerFlags: ["--gateway-invoke", `--gateway-url=http://127.0.0.1:${port}`],
        };
      },
      "gateway",
    ],
  ];

describe.each(ways)("queued runs %s that end in the middle of their reply", (_way, options, counts) => {
  let platform: Platform;
  const servers: FunctionServer[] = [];

  beforeAll(async () => {
    platform = await openPlatform({ ...(await options()), slots: 4, upstreamTimeout: 1_000, retryAttempts: 0 });
    for (const [name, handler] of Object.entries(functions)) {
      const server = await openFunctionServer(handler);
      servers.push(server);
      const annotations = name === "left" ? { "com.service.timeout": "10m" } : {};
      await platform.deploy(name, { addresses: [server.address], annotations });
    }
  });
  afterAll(async () => {
    await platform?.close();
    for (const server of servers) await server.close();
  });

  /** Resolves once runs of the function are counted under `code` and no other. */
  const countedAs = async (name: string, code: number): Promise<void> => {
    const total = (labels: Readonly<Record<string, string>>): Promise<number> =>
      platform.metric(platform[counts], "gateway_function_invocation_total", {
        function_name: `${name}.functions`,
        ...labels,
      });
    await eventually(async () => (await total({})) === 1, { what: `the run of ${name} to be counted` });
    expect(await total({ code: String(code) })).toBe(1);
  };

  test("one that its replica aborts counts as 502", async () => {
    const id = await platform.calls.accepted("broken");
    expect(await platform.calls.ended(id)).toMatchObject({ state: "failed", attempts: [{ status: 502 }] });
    await countedAs("broken", 502);
  });

  test("one that reaches its limit counts as 504", async () => {
    const id = await platform.calls.accepted("endless");
    expect(await platform.calls.ended(id)).toMatchObject({ state: "failed" });
    await countedAs("endless", 504);
  });

  test("one that is cancelled counts as 499", async () => {
    const id = await platform.calls.accepted("left");
    await eventually(() => servers[2]?.open === 1, { what: "the run" });
    await platform.calls.cancel(id, "left");
    await countedAs("left", 499);
  });
});
