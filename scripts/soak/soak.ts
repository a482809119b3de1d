import { setTimeout as pause } from "node:timers/promises";

import { openChaosProxy, type ChaosProxy } from "../../test/support/chaos-proxy.ts";
import { openFaultBench } from "../../test/support/fault-bench.ts";
import { quantile } from "../../test/support/load.ts";
import type { Counts } from "../../test/support/ledger-invariants.ts";
import { seededRandom } from "../random.ts";
import { EndsAsTheyCome } from "./ends-as-they-come.ts";
import { soakFaults } from "./soak-faults.ts";

export interface SoakOptions {
  readonly minutes: number;
  /** Calls a second. */
  readonly rate: number;
  /** Seconds. */
  readonly faultEvery: number;
  readonly seed: number;
  /** Receives progress, line by line. */
  readonly say: (sentence: string) => void;
}

/** The result of a soak. Milliseconds. */
export interface SoakResult {
  readonly seed: number;
  readonly minutes: number;
  readonly sent: number;
  readonly counts: Counts;
  /** How often each fault was injected. */
  readonly faults: Readonly<Record<string, number>>;
  /** One sentence for each invariant that does not hold. */
  readonly violations: readonly string[];
  readonly acceptP50: number;
  readonly acceptP99: number;
}

const workers = 2;
const slots = 16;
const maxFileStore = 8 * 1_073_741_824;
/** Milliseconds for the default lease and for recovery from faults of the last minute. */
const settleWithin = 300_000;
const callbackShare = 10;

/** Runs a platform with all its defaults under a steady load with random faults; everything is closed at the end. */
export async function soak({ minutes, rate, faultEvery, seed, say }: SoakOptions): Promise<SoakResult> {
  const proxies: ChaosProxy[] = [];
  const through = async (port: number): Promise<number> => {
    const proxy = await openChaosProxy(port);
    proxies.push(proxy);
    return proxy.port;
  };
  const bench = await openFaultBench({
    speed: "soak",
    workers,
    slots,
    gatewayThrough: through,
    workersThrough: through,
    maxFileStore,
    server: { maxFileStore },
  });
  const chance = seededRandom(seed);
  const faults = soakFaults(bench.platform, proxies, chance);
  const injected: Record<string, number> = {};
  const stop = new AbortController();
  const ends = new EndsAsTheyCome(bench.platform.calls);
  try {
    const count = minutes * 60 * rate;
    const load = { functionName: "working", signal: stop.signal, onAccepted: (id: string) => ends.add(id) };
    const loads = [
      bench.load({ ...load, rate: (rate * (callbackShare - 1)) / callbackShare, count }),
      bench.load({ ...load, rate: rate / callbackShare, count, callbackUrl: bench.sink.url }),
    ];
    const until = performance.now() + minutes * 60_000;
    let lossy = 0;
    while (performance.now() < until) {
      await pause(Math.min(faultEvery * 1_000, Math.max(0, until - performance.now())));
      if (performance.now() >= until) break;
      const fault = faults[Math.floor(chance() * faults.length)];
      if (fault === undefined) continue;
      say(`${new Date().toISOString()} ${fault.name}`);
      injected[fault.name] = (injected[fault.name] ?? 0) + 1;
      if (fault.losesRuns) lossy += 1;
      await fault.act();
    }
    stop.abort();
    const summaries = await Promise.all(loads);
    await ends.close();
    const latencies = summaries.flatMap((summary) => summary.latencies).toSorted((a, b) => a - b);
    const total = Object.values(injected).reduce((sum, times) => sum + times, 0);
    const { counts, violations } = await bench.settle({
      within: settleWithin,
      known: ends.ends,
      extraRuns: lossy * slots,
      // Each fault may hit the callbacks that are in flight.
      extraCallbacks: total * workers * slots,
    });
    const sent = summaries.reduce((sum, summary) => sum + summary.sent.length, 0);
    const [acceptP50, acceptP99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
    return { seed, minutes, sent, counts, faults: injected, violations, acceptP50, acceptP99 };
  } finally {
    stop.abort();
    await ends.close();
    await bench.close().catch((err: unknown) => say(err instanceof Error ? err.message : String(err)));
    for (const proxy of proxies) await proxy.close();
  }
}
