import { expect } from "vitest";

import { clusterClient } from "./cluster-client.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import type { PulumiRun } from "./engine-stack.ts";
import { steadyCalls } from "./steady-calls.ts";
import type { WeirStack } from "./weir-stack.ts";

/** The result of a change, and the calls that failed meanwhile. */
export interface UpUnderCalls {
  readonly failures: readonly string[];
  readonly up: PulumiRun;
}

/** Echoes, in one process for all calls: what the platform does with them is looked at, not what starting programs costs. */
const echo = `require("http").createServer((request, response) => request.pipe(response)).listen(process.env.PORT, "127.0.0.1")`;

/** Changes a stack while about a hundred calls per second go to function `steady` of its platform. */
export function upUnderCalls(of: () => { readonly stack: WeirStack; readonly platform: ClusterPlatform }) {
  return async (change: Readonly<Record<string, unknown>>, ...args: readonly string[]): Promise<UpUnderCalls> => {
    const { stack, platform } = of();
    const labels = { "com.service.scale.min": "2", "com.service.scale.max": "2" };
    const client = clusterClient(() => platform);
    await client.deploy("steady", { labels, envProcess: `node -e '${echo}'`, envVars: { mode: "http" } });
    await stack.configure(change);
    const enough = new AbortController();
    const urls = [`${platform.url}/function/steady`];
    const calls = steadyCalls({ urls, rate: 100, atOnce: 32, signal: enough.signal });
    const up = await stack.expect("up", ...args).finally(() => enough.abort());
    const { failures, latencies } = await calls;
    expect([...latencies.values()].flat().length).toBeGreaterThan(500);
    return { failures, up };
  };
}
