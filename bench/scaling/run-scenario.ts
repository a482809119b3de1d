import { setTimeout as pause } from "node:timers/promises";

import { Agent } from "undici";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { scaleRules } from "../../runtime/core/scaling/scale-rules.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { WeirProcess } from "../../test/support/weir-process.ts";
import type { Pace } from "./scaling-rule.ts";
import { sampleEvery, type CpuSample, type ReplicaSample, type ScalingRun } from "./scaling-run.ts";
import type { LoadedFunction, Scenario } from "./scenario.ts";
import { sendShapedLoad } from "./send-shaped-load.ts";

/** Scaling period and window of the Weir of a run. */
export const pace: Pace = { period: 500, window: 2_000 };
export const scalingFlags = [
  ["--scale-period", `${pace.period}ms`],
  ["--scale-window", `${pace.window}ms`],
  ["--edition", "pro"],
  ["--max-inflight", "8"],
].flat();

const prefix = "com.service.scale.";

/** Deploys the functions of a scenario, loads and samples them, and removes them. */
export async function runScenario(weir: WeirProcess, { functions, seconds }: Scenario): Promise<readonly ScalingRun[]> {
  const system = systemClient(weir);
  const agent = new Agent({ connections: 256, pipelining: 1 });
  try {
    await Promise.all(functions.map((loaded) => system.deploy(loaded)));
    await eventually(async () => (await system.list(functions)).every((status) => status?.availableReplicas === 1), {
      within: 60_000,
      every: 100,
      what: "the functions to be ready",
    });
    const begin = performance.now();
    const ended = AbortSignal.timeout(seconds * 1_000);
    const [rows, loads] = await Promise.all([
      sampleReplicas(() => system.list(functions), begin, ended),
      Promise.all(
        functions.map(async (loaded) => {
          const rules = scaleRules(labelsOf(loaded));
          const [calls, cpu] = await Promise.all([
            sendShapedLoad(loaded, { url: weir.url, agent, seconds, begin }),
            rules.type === "cpu" ? sampleCpu(() => system.cpu(loaded.name), begin, ended) : [],
          ]);
          return { name: loaded.name, rules, length: seconds * 1_000, calls, cpu };
        }),
      ),
    ]);
    return loads.map((load, index) => ({
      ...load,
      samples: rows.map((row) => row[index]).filter((sample) => sample !== undefined),
    }));
  } finally {
    await agent.destroy();
    await Promise.all(functions.map(({ name }) => system.remove(name)));
    await eventually(async () => (await system.list(functions)).every((status) => status === undefined), {
      within: 30_000,
      every: 100,
      what: "the functions to be gone",
    });
  }
}

async function sampleReplicas(
  list: () => Promise<readonly (FunctionStatus | undefined)[]>,
  begin: number,
  ended: AbortSignal,
): Promise<readonly (readonly (ReplicaSample | undefined)[])[]> {
  const rows: (ReplicaSample | undefined)[][] = [];
  while (!ended.aborted) {
    const seen = await list();
    const at = performance.now() - begin;
    rows.push(seen.map((status) => status && { at, desired: status.replicas, ready: status.availableReplicas }));
    await pause(sampleEvery, undefined, { signal: ended }).catch(() => {});
  }
  return rows;
}

/** Each reading takes half a second and is the mean of that time. */
async function sampleCpu(
  read: () => Promise<number | undefined>,
  begin: number,
  ended: AbortSignal,
): Promise<readonly CpuSample[]> {
  const samples: CpuSample[] = [];
  let from = 0;
  while (!ended.aborted) {
    const cpu = await read();
    const to = performance.now() - begin;
    if (cpu === undefined) await pause(sampleEvery);
    else samples.push({ from, to, cpu });
    from = to;
  }
  return samples;
}

function labelsOf({ labels }: LoadedFunction): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [`${prefix}${key}`, value]));
}

function systemClient({ url, authorization }: WeirProcess) {
  const ask = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const response = await fetch(`${url}/system/${path}`, {
      method,
      headers: { authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };
  return {
    deploy: (loaded: LoadedFunction) =>
      ask("PUT", "functions", {
        service: loaded.name,
        image: "none",
        envProcess: loaded.command,
        envVars: { mode: "http" },
        labels: labelsOf(loaded),
      }),
    remove: (functionName: string) => ask("DELETE", "functions", { functionName }),
    list: async (functions: readonly LoadedFunction[]) => {
      const all = (await (await ask("GET", "functions")).json()) as readonly FunctionStatus[];
      return functions.map((loaded) => all.find(({ name }) => name === loaded.name));
    },
    cpu: async (name: string) => {
      const status = (await (await ask("GET", `function/${name}?usage=1`)).json()) as FunctionStatus;
      return status.usage?.cpu;
    },
  };
}
