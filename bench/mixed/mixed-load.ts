import { setTimeout as pause } from "node:timers/promises";

import { request } from "undici";

import { eventually } from "../../test/support/eventually.ts";
import { notAccepted, sendLoad } from "../../test/support/load.ts";
import { platformCalls } from "../../test/support/platform-calls.ts";
import { steadyCalls } from "../../test/support/steady-calls.ts";
import type { WeirProcess } from "../../test/support/weir-process.ts";
import { EndsAsTheyCome } from "../../scripts/soak/ends-as-they-come.ts";
import { mixedFunctions, stream, type MixedFunctions } from "./mixed-functions.ts";

/** The outcome of one kind of load; `failures` are sentences. */
export interface LoadOutcome {
  readonly what: string;
  readonly done: number;
  readonly failures: readonly string[];
}

const names = { plain: "plain", queued: "queued", streaming: "streaming", scaled: "scaled", redeployed: "redeployed" };
/** Calls per second, streams at a time: what one of two cores does easily beside everything else. */
const loads = { sync: 60, queued: 20, streams: 4, redeployEvery: 2_000 } as const;
const settleWithin = 120_000;

/** Deploys the functions of the load; resolves once all of them reply. */
export async function deployMixed(weir: WeirProcess): Promise<void> {
  const functions = mixedFunctions(weir);
  for (const name of Object.values(names)) await functions.deploy(name, 1);
  for (const name of Object.values(names)) await functions.serves(name, 1);
}

/**
 * Runs calls, streams, queued calls, deployments and changes of replicas at once until `signal` aborts; resolves once
 * all of them have ended.
 */
export async function runMixedLoad(weir: WeirProcess, signal: AbortSignal): Promise<readonly LoadOutcome[]> {
  const functions = mixedFunctions(weir);
  return Promise.all([
    callSteadily(weir, signal),
    queueSteadily(weir, signal),
    readStreams(weir, signal),
    changeFunctions(functions, signal),
  ]);
}

async function callSteadily({ url }: WeirProcess, signal: AbortSignal): Promise<LoadOutcome> {
  const urls = [names.plain, names.scaled, names.redeployed].map((name) => `${url}/function/${name}`);
  let done = 0;
  const onAnswer = (): void => void (done += 1);
  const { failures } = await steadyCalls({ urls, rate: loads.sync, signal, onAnswer });
  return { what: "synchronous calls", done, failures };
}

async function queueSteadily({ url, authorization }: WeirProcess, signal: AbortSignal): Promise<LoadOutcome> {
  const ends = new EndsAsTheyCome(platformCalls(url, { authorization }));
  const accepted: string[] = [];
  try {
    const { sent, dropped } = await sendLoad({
      gateway: url,
      functionName: names.queued,
      rate: loads.queued,
      count: Number.POSITIVE_INFINITY,
      timeout: 15_000,
      signal,
      onAccepted: (id) => {
        accepted.push(id);
        ends.add(id);
      },
    });
    await eventually(() => ends.ends.size === accepted.length, {
      within: settleWithin,
      every: 200,
      what: "the last queued calls to end",
    }).catch(() => undefined);
    const states = accepted.map((id) => ends.ends.get(id)?.state ?? "lost");
    const bad = Map.groupBy(states, (state) => state);
    bad.delete("done");
    return {
      what: "queued calls",
      done: states.filter((state) => state === "done").length,
      failures: [
        ...notAccepted(sent),
        ...(dropped > 0 ? [`${dropped} not sent: too many had no answer`] : []),
        ...Array.from(bad, ([state, all]) => `${all.length} accepted, then ${state}`),
      ],
    };
  } finally {
    await ends.close();
  }
}

async function readStreams({ url }: WeirProcess, signal: AbortSignal): Promise<LoadOutcome> {
  const failures: string[] = [];
  let done = 0;
  const read = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const { statusCode, body } = await request(`${url}/function/${names.streaming}${stream.path}`);
        const { byteLength } = await body.arrayBuffer();
        if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
        if (byteLength !== stream.chunks * stream.chunkSize) throw new Error(`ended after ${byteLength} bytes`);
        done += 1;
      } catch (err) {
        failures.push(err instanceof Error ? err.message : String(err));
        await pause(1_000);
      }
    }
  };
  await Promise.all(Array.from({ length: loads.streams }, read));
  return { what: `streams of ${(stream.chunks * stream.every) / 1_000} s`, done, failures };
}

/** Deploys new versions, creates, calls and removes functions, and scales up, down, to zero and back. */
async function changeFunctions(functions: MixedFunctions, signal: AbortSignal): Promise<LoadOutcome> {
  const failures: string[] = [];
  let done = 0;
  for (let version = 2; !signal.aborted; version += 1) {
    const passing = `passing-${version}`;
    try {
      await functions.deploy(names.redeployed, version);
      await functions.serves(names.redeployed, version);
      await functions.deploy(passing, version);
      await functions.call(passing);
      await functions.scale(passing, 0);
      await functions.call(passing);
      await functions.scale(names.scaled, 1 + (version % 3));
      done += 1;
    } catch (err) {
      failures.push(err instanceof Error ? err.message : String(err));
    }
    await functions.remove(passing).catch((err: unknown) => failures.push(String(err)));
    await pause(loads.redeployEvery, undefined, { signal }).catch(() => undefined);
  }
  return { what: "rounds of deployments and scaling", done, failures };
}
