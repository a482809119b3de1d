import { setTimeout as pause } from "node:timers/promises";

import { openRecordBroker } from "../../test/support/record-broker.ts";
import { processorSeconds, residentBytes, residentTogether } from "../../test/support/process-facts.ts";
import type { BenchRow, Contest } from "../bench-row.ts";
import { say } from "../tools.ts";
import { startHistory, type BenchHistory } from "./start-history.ts";
import { writeSteadily } from "./steady-records.ts";

const rate = 2_000;
const duration = 10_000;
const megabyte = 1_000_000;
const sampleEvery = 250;
const readEvery = 1_000;
const lookEvery = 20;

/** Runs `load`, and resolves with what the history took meanwhile. */
type Measure = (history: BenchHistory, load: () => Promise<unknown>) => Promise<number>;

const common = { id: "H5", peer: "nothing", judged: "value", lessIsBetter: true } as const;

/** H5: what the history takes, and it together with its reader, while many calls are written. */
export const h5Cost: readonly BenchRow[] = [
  {
    ...common,
    what: `history: processor time at ${rate} calls/s`,
    unit: "cores",
    firstBar: 0.35,
    goal: 0.35,
    open: () => openUnderLoad(processorShare),
  },
  memoryRow("nobody reads", mostMegabytes),
  memoryRow("a page is read each second, its reader's too, what both share counted once", (history, load) =>
    mostMegabytes(history, () => whileRead(history, load)),
  ),
];

function memoryRow(when: string, measure: Measure): BenchRow {
  return {
    ...common,
    what: `history: most memory at ${rate} calls/s while ${when}`,
    unit: "MB",
    firstBar: 120,
    goal: 120,
    open: () => openUnderLoad(measure),
  };
}

async function openUnderLoad(measure: Measure): Promise<Contest> {
  const opened = new AsyncDisposableStack();
  try {
    const broker = opened.use(await openRecordBroker());
    const history = opened.use(await startHistory(broker.server));
    // At its first start another process compiles what reads.
    while (history.pids().length > 1) await pause(lookEvery);
    return {
      weir: () => measure(history, () => writeSteadily({ ledger: broker.ledger, rate, duration })),
      close: () => opened.disposeAsync(),
    };
  } catch (err) {
    await opened.disposeAsync();
    throw err;
  }
}

async function processorShare({ pids }: BenchHistory, load: () => Promise<unknown>): Promise<number> {
  const measured = pids();
  const [begun, before] = [performance.now(), sumOf(measured, processorSeconds)];
  await load();
  return (sumOf(measured, processorSeconds) - before) / ((performance.now() - begun) / 1_000);
}

async function mostMegabytes({ pids }: BenchHistory, load: () => Promise<unknown>): Promise<number> {
  let [most, mostAlone, processes] = [0, 0, 0];
  const sampling = setInterval(() => {
    const measured = pids();
    most = Math.max(most, residentTogether(measured));
    mostAlone = Math.max(mostAlone, ...measured.map(residentBytes));
    processes = Math.max(processes, measured.length);
  }, sampleEvery);
  try {
    await load();
  } finally {
    clearInterval(sampling);
  }
  say(`H5: at most ${Math.round(mostAlone / megabyte)} MB in one of ${processes} processes`);
  return most / megabyte;
}

/** Reads a page now and then while `load` runs. */
async function whileRead({ reads }: BenchHistory, load: () => Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const reading = (async () => {
    while (!over.signal.aborted) {
      await reads.list({ filter: {}, limit: 50 });
      await pause(readEvery, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  try {
    await load();
  } finally {
    over.abort();
    await reading;
  }
}

function sumOf(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + of(pid), 0);
}
