import { afterAll, beforeAll, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import type { PlatformProcess } from "../support/platform-process.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { steadyCalls, type SteadyCalls } from "../support/steady-calls.ts";

let platform: Platform;
let working: FunctionServer;
let autoscalers: readonly [PlatformProcess, PlatformProcess];
/** Desired replicas of `echo` in order, without repetitions. */
const desired: number[] = [];
let endWatch: () => void;

beforeAll(async () => {
  working = await openFunctionServer();
  platform = await openPlatform();
  autoscalers = [platform.add("autoscaler"), platform.add("autoscaler")];
  for (const each of autoscalers) await each.start();
  endWatch = await platform.broker.functions.watch({
    set: ({ replicas }) => void (desired.at(-1) !== replicas && desired.push(replicas)),
    removed: () => {},
    synced: () => {},
  });
});
afterAll(async () => {
  endWatch?.();
  await platform?.close();
  await working?.close();
});

const leads = async (process: PlatformProcess): Promise<boolean> =>
  process.running && (await platform.metric(process, "autoscaler_leader")) === 1;
async function leader(within: number): Promise<PlatformProcess> {
  return eventually(
    async () => {
      const acting = [];
      for (const each of autoscalers) if (await leads(each)) acting.push(each);
      return acting.length === 1 ? acting[0] : undefined;
    },
    { within, every: 50, what: "one autoscaler to act" },
  );
}
const replicasAre = (replicas: number, within = 45_000) =>
  eventually(() => desired.at(-1) === replicas, {
    within,
    every: 20,
    what: `${replicas} replicas, not ${desired.join()}`,
  });
const moreCalls = (count: number): Promise<true> => {
  const until = working.requests.length + count;
  return eventually(() => working.requests.length >= until, { what: `${count} more calls` });
};
const callsOf = (rate: number): { end(): Promise<SteadyCalls> } => {
  const enough = new AbortController();
  const calls = steadyCalls({ urls: [`${platform.url}/function/echo`], rate, signal: enough.signal });
  return {
    end: () => {
      enough.abort();
      return calls;
    },
  };
};

test("FP8 one of two autoscalers leads; if it is killed the other does within its lease; no flapping", async () => {
  // A busy machine sends calls late, then in a burst: a tenth of them is enough for the most replicas there may be.
  const labels = (max: number) => ({ "com.service.scale.target": "1", "com.service.scale.max": String(max) });
  await platform.deploy("echo", { addresses: [working.address], labels: labels(3) });
  const first = await leader(10_000);
  const second = autoscalers[first === autoscalers[0] ? 1 : 0];

  const low = callsOf(45);
  await replicasAre(3);
  await first.kill();
  const killedAt = performance.now();
  expect(await leader(15_000)).toBe(second);
  const takeover = performance.now() - killedAt;
  // FP8, times three: this is the fast profile.
  expect(takeover).toBeLessThanOrEqual(3 * 5_000);
  // It knows all that the other knew: continued load changes nothing.
  await moreCalls(200);
  expect(desired.at(-1)).toBe(3);
  expect((await low.end()).failures).toEqual([]);
  await replicasAre(1);

  await first.start();
  await platform.deploy("echo", { addresses: [working.address], labels: labels(5) });
  const high = callsOf(80);
  await eventually(() => (desired.at(-1) ?? 0) === 5, { what: "replicas for more load" });
  await second.stop();
  expect(await leader(10_000)).toBe(first);
  await moreCalls(400);
  expect(desired.at(-1)).toBe(5);
  expect((await high.end()).failures).toEqual([]);
  await replicasAre(1);
  await second.start();
  // Up, down, up and down again, in as many steps as there were reports: load changes over several of them.
  expect(turns(desired), desired.join(" ")).toBe(3);
});

/** How often the numbers change direction. */
function turns(numbers: readonly number[]): number {
  const steps = numbers.slice(1).map((number, index) => Math.sign(number - (numbers[index] ?? 0)));
  return steps.filter((step, index) => index > 0 && step !== steps[index - 1]).length;
}
