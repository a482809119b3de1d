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

/** Runs `load`, and resolves with what the history took meanwhile. */
type Measure = (history: BenchHistory, load: () => Promise<unknown>) => Promise<number>;

const common = { id: "H5", peer: "nothing", judged: "value", lessIsBetter: true } as const;

/** H5: what the history and its readers take together while many calls are written. */
export const h5Cost: readonly BenchRow[] = [
  {
    ...common,
    what: `history: processor time at ${rate} calls/s`,
    unit: "cores",
    firstBar: 0.35,
    goal: 0.35,
    open: () => openUnderLoad(processorShare),
  },
  {
    ...common,
    what: `history: most memory at ${rate} calls/s, what its processes share counted once`,
    unit: "MB",
    firstBar: 120,
    goal: 120,
    open: () => openUnderLoad(mostMegabytes),
  },
];

async function openUnderLoad(measure: Measure): Promise<Contest> {
  const opened = new AsyncDisposableStack();
  try {
    const broker = opened.use(await openRecordBroker());
    const history = opened.use(await startHistory(broker.server));
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
  const [begun, before] = [performance.now(), sumOf(pids(), processorSeconds)];
  await load();
  return (sumOf(pids(), processorSeconds) - before) / ((performance.now() - begun) / 1_000);
}

async function mostMegabytes({ pids }: BenchHistory, load: () => Promise<unknown>): Promise<number> {
  let [most, mostAlone] = [0, 0];
  const sampling = setInterval(() => {
    most = Math.max(most, residentTogether(pids()));
    mostAlone = Math.max(mostAlone, ...pids().map(residentBytes));
  }, sampleEvery);
  try {
    await load();
  } finally {
    clearInterval(sampling);
  }
  say(`H5: at most ${Math.round(mostAlone / megabyte)} MB in one of ${pids().length} processes`);
  return most / megabyte;
}

function sumOf(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + of(pid), 0);
}
