import { eventually } from "../../../test/support/eventually.ts";
import { seededRandom } from "../../random.ts";
import { becomesQuiet } from "../../../test/support/platform-account.ts";
import { openPlatform, type Platform } from "../../../test/support/platform.ts";
import { CallTally, type TallySum } from "./call-tally.ts";
import { openCountedFunction } from "./counted-function.ts";
import { openHistoryCheck } from "./history-check.ts";
import { killNowAndThen } from "./kills.ts";
import { LongestGap } from "./longest-gap.ts";
import { sendUntilAccepted } from "./send-until-accepted.ts";
import { PlatformWatch } from "./platform-watch.ts";
import { StatusReads } from "./status-reads.ts";

export interface MillionOptions {
  readonly count: number;
  /** Longest time in which calls are sent, milliseconds. */
  readonly longest: number;
  /** Milliseconds between two kills. */
  readonly killEvery: number;
  readonly seed: number;
  /** Ends it early; accepted calls are accounted for anyway. */
  readonly signal: AbortSignal;
  /** Receives progress, line by line. */
  readonly say: (sentence: string) => void;
}

/** The result of a run. Milliseconds and bytes. */
export interface MillionResult extends TallySum {
  readonly seed: number;
  readonly wanted: number;
  /** Why no more calls were sent. */
  readonly ended: "count reached" | "time over" | "interrupted";
  readonly sending: number;
  readonly settling: number;
  readonly kills: Readonly<Record<string, number>>;
  readonly extraRunsAllowed: number;
  readonly statusReads: number;
  /** Pages of `GET /system/calls` that were compared with what was sent, and the time until the history was level. */
  readonly historyPages: number;
  readonly historyLag: number;
  readonly gapOfAccepting: number;
  readonly gapOfRunning: number;
  /** Largest number in any sample, as a share of the bound. */
  readonly mostRecords: number;
  /** Largest memory of each process in any sample. */
  readonly mostMemory: Readonly<Record<string, number>>;
}

const functionName = "counted";
const [workers, slots, inFlight, mostOpen] = [2, 16, 32, 10_000];
const maxFileStore = 8 * 1_073_741_824;
/** Milliseconds for two leases and the rest of the queue. */
const settleWithin = 180_000;
const lookEvery = 5_000;

/**
 * Sends calls through one queue, with all defaults, while workers and broker are killed; accounts for each. Cleans up.
 */
export async function million({
  count,
  longest,
  killEvery,
  seed,
  signal,
  say,
}: MillionOptions): Promise<MillionResult> {
  const tally = new CallTally(count);
  const [accepting, running] = [new LongestGap(), new LongestGap()];
  const kills: Record<string, number> = {};
  let lossy = 0;
  let reads: StatusReads | undefined;
  const stop = new AbortController();
  const stopped = AbortSignal.any([stop.signal, signal]);
  const numbered = (act: (call: number) => void) => (id: string) => {
    const call = tally.callOf(id);
    if (call !== undefined) act(call);
  };
  const counted = await openCountedFunction({
    started: numbered((call) => {
      running.mark();
      tally.started(call);
    }),
    answered: numbered((call) => reads?.add(call)),
  });
  try {
    await using platform = await openPlatform({
      speed: "soak",
      workers,
      slots,
      maxFileStore,
      server: { maxFileStore },
    });
    await using history = await openHistoryCheck(platform);
    await platform.deploy(functionName, { addresses: [counted.address] });
    const reading = new StatusReads(tally, platform.url);
    reads = reading;
    const watch = new PlatformWatch(platform, [history.process]);
    const timer = setTimeout(() => stop.abort(), longest);
    const begin = performance.now();
    const looking = setInterval(() => {
      watch.look();
      say(`${elapsed(begin)}: ${tally.accepted} accepted, ${tally.open} not over`);
    }, lookEvery);
    const killing = killNowAndThen(platform, {
      every: killEvery,
      chance: seededRandom(seed),
      onKill: (name, losesRuns) => {
        say(`${elapsed(begin)}: ${name}`);
        kills[name] = (kills[name] ?? 0) + 1;
        if (!losesRuns) return;
        lossy++;
        tally.workerKilled();
      },
      signal: stopped,
    });
    try {
      await sendUntilAccepted({
        url: platform.url,
        functionName,
        tally,
        count,
        inFlight,
        mostOpen,
        onAccepted: () => accepting.mark(),
        signal: stopped,
      });
      const early = signal.aborted ? "interrupted" : "time over";
      const ended = tally.accepted === count ? "count reached" : early;
      const sending = performance.now() - begin;
      clearTimeout(timer);
      stop.abort();
      running.close();
      await killing;
      const unsettled = await settle(platform, tally, reading);
      const settling = performance.now() - begin - sending;
      const compared = await history.compare(tally);
      const extraRunsAllowed = lossy * slots;
      const sum = tally.sum({ extraRuns: extraRunsAllowed });
      return {
        ...sum,
        violations: [...sum.violations, ...unsettled, ...compared.violations],
        seed,
        wanted: count,
        ended,
        sending,
        settling,
        kills,
        extraRunsAllowed,
        statusReads: reading.reads,
        historyPages: compared.pages,
        historyLag: compared.lag,
        gapOfAccepting: accepting.longest,
        gapOfRunning: running.longest,
        mostRecords: watch.mostRecords,
        mostMemory: watch.mostMemory,
      };
    } finally {
      clearTimeout(timer);
      clearInterval(looking);
      stop.abort();
      await killing;
      await reading.close();
    }
  } finally {
    await counted.close();
  }
}

/** Waits until each accepted call's end was read and the queue is empty (I8, I9); returns violations as sentences. */
async function settle(platform: Platform, tally: CallTally, reads: StatusReads): Promise<string[]> {
  const until = performance.now() + settleWithin;
  while (tally.open > 0 && performance.now() < until) {
    // Also calls without a report: those that did not run.
    for (const call of tally.openCalls(1_000)) reads.add(call);
    await eventually(() => tally.open === 0, { within: 5_000, every: 200, what: "the last ends" }).catch(
      () => undefined,
    );
  }
  const found: string[] = [];
  const note = (invariant: string) => (err: unknown) =>
    void found.push(`${invariant}: ${err instanceof Error ? err.message : String(err)}`);
  await becomesQuiet(platform, 30_000).catch(note("I8"));
  try {
    platform.checkProcesses();
  } catch (err) {
    note("I9")(err);
  }
  return found;
}

function elapsed(begin: number): string {
  return `${((performance.now() - begin) / 1_000).toFixed(0)} s`;
}
