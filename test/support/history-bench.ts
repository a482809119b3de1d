import { setTimeout as pause } from "node:timers/promises";

import { eventually } from "./eventually.ts";
import { openFaultBench, type FaultBench, type FaultBenchOptions } from "./fault-bench.ts";
import { historyProcess, type TestHistory } from "./history-process.ts";
import { tempDirectory } from "./temp-directory.ts";

export interface HistoryBenchOptions extends FaultBenchOptions {
  /** Of the history's files; one of its own by default. */
  readonly historyDirectory?: string | undefined;
}

/** A fault bench with a history process beside it. */
export interface HistoryBench extends FaultBench {
  readonly history: TestHistory;
  /** Resolves when that many more calls have run. */
  busy(runs?: number): Promise<void>;
}

/** Opens it; the history is ready. */
export async function openHistoryBench({
  historyDirectory,
  ...options
}: HistoryBenchOptions = {}): Promise<HistoryBench> {
  const own = historyDirectory === undefined ? await tempDirectory("history") : undefined;
  const opened: { bench?: FaultBench; history?: TestHistory } = {};
  const close = async (): Promise<void> => {
    await opened.history?.process.kill();
    await opened.history?.reads.close();
    try {
      await opened.bench?.close();
    } finally {
      await own?.remove();
    }
  };
  try {
    const bench = (opened.bench = await openFaultBench(options));
    const { server } = bench.platform;
    const history = (opened.history = await historyProcess({ directory: historyDirectory ?? own?.path ?? "", server }));
    await history.process.start();
    const busy: HistoryBench["busy"] = async (runs = 20) => {
      const before = bench.working.requests.length;
      await eventually(() => bench.working.requests.length >= before + runs, { what: `${runs} more runs` });
    };
    return { ...bench, history, busy, close, [Symbol.asyncDispose]: close };
  } catch (err) {
    await close().catch(() => undefined);
    throw err;
  }
}

/** Stops a process for `duration` milliseconds, the way SIGSTOP does. */
export async function stopFor({ process }: TestHistory, duration: number): Promise<void> {
  process.pause();
  try {
    await pause(duration);
  } finally {
    process.resume();
  }
}
