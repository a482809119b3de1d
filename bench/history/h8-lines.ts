import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { HttpKeptLogs } from "../../runtime/adapters/http/history/http-kept-logs.ts";
import { logsWithHistory } from "../../runtime/core/history/logs/logs-with-history.ts";
import { readKeptLines } from "../../runtime/core/history/logs/read-kept-lines.ts";
import type { KeptLogs } from "../../runtime/core/ports/kept-logs.ts";
import { quantile } from "../../test/support/load.ts";
import { openNatsServer } from "../../test/support/nats-server.ts";
import { openRecordBroker } from "../../test/support/record-broker.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import type { BenchRow, Contest } from "../bench-row.ts";
import { manyLines, type ManyLines } from "./many-lines.ts";
import { linesOfFunction, loggedFunctions, offerLines, prepareLogs } from "./offered-lines.ts";
import { startHistory } from "./start-history.ts";
import { inTurn } from "./timed-reads.ts";

/** One read of kept lines; `turn` counts from 0. */
type LineRead = (kept: KeptLogs, lines: ManyLines, turn: number) => Promise<void>;

const offered = loggedFunctions.length * linesOfFunction;
const duration = 8_000;
const lookEvery = 2_000;
const patience = 60_000;
const reads = 200;
const tail = 100;
/** Milliseconds after its run for which a call is looked for. */
const namedFor = 60_000;
const standIn = /^… .* not kept\n$/;

const common = { id: "H8", peer: "nothing", judged: "value" } as const;

/** H8: how many of many lines are kept, and what reading them takes. */
export const h8Lines: readonly BenchRow[] = [
  {
    ...common,
    what: `history: lines a second that are kept of ${offered} a second`,
    unit: "lines/s",
    firstBar: 2_000,
    goal: 2_000,
    open: openOffer,
  },
  row(`the last ${tail} lines of a function, p95`, async (kept, { functions }, turn) => {
    const logs = { read: async function* () {} };
    const query = { ...inTurn(functions, turn), instance: undefined, since: undefined, until: undefined };
    const asked = { ...query, tail, follow: false };
    const found = await Array.fromAsync(logsWithHistory({ kept, logs }, asked, new AbortController().signal));
    if (found.length !== tail) throw new Error(`${found.length} lines were found, not ${tail}`);
  }),
  row("the lines in which the id of a call stands, p95", async (kept, { calls }, turn) => {
    const { ref, id, at } = inTurn(calls, turn);
    const query = { ...ref, since: at, until: at + namedFor, containing: id };
    const found = await Array.fromAsync(readKeptLines(kept, query));
    if (found.length !== 1) throw new Error(`${found.length} lines were found, not 1`);
  }),
];

function row(what: string, read: LineRead): BenchRow {
  return {
    ...common,
    what: `history: ${what}`,
    unit: "ms",
    lessIsBetter: true,
    firstBar: 100,
    goal: 100,
    open: () => openLineReads(read),
  };
}

async function openOffer(): Promise<Contest> {
  const opened = new AsyncDisposableStack();
  try {
    const data = opened.use(await tempDirectory("bench-logs"));
    const logs = join(data.path, "logs");
    prepareLogs(logs);
    const { server } = opened.use(await openRecordBroker());
    const flags = { "log-provider": "local", "log-data": data.path };
    const { address } = opened.use(await startHistory(server, { flags }));
    const kept = new HttpKeptLogs({ address, timeout: 10_000 });
    opened.defer(() => kept.close());
    return {
      weir: async () => {
        const seconds = await offerLines(logs, duration);
        const [first = 0, last = 0] = [seconds[0], seconds.at(-1)];
        const between = { since: first * 1_000, until: (last + 1) * 1_000 };
        return (await untilStill(() => countLines(kept, between))) / seconds.length;
      },
      close: () => opened.disposeAsync(),
    };
  } catch (err) {
    await opened.disposeAsync();
    throw err;
  }
}

async function countLines(
  kept: KeptLogs,
  between: { readonly since: number; readonly until: number },
): Promise<number> {
  let count = 0;
  for (const ref of loggedFunctions)
    for await (const { text } of readKeptLines(kept, { ...ref, ...between })) if (!standIn.test(text)) count += 1;
  return count;
}

/** A number once it is the same in looks a few seconds apart: a log is read each second. */
async function untilStill(look: () => Promise<number>): Promise<number> {
  const until = performance.now() + patience;
  for (let before = 0; performance.now() < until; await pause(lookEvery)) {
    const found = await look();
    if (found === before && found > 0) return found;
    before = found;
  }
  throw new Error(`Cannot count the lines: they were not all kept within ${patience} ms`);
}

/** Measures the p95 of a read of many lines, in milliseconds, as a gateway asks for it. */
async function openLineReads(read: LineRead): Promise<Contest> {
  const lines = await manyLines();
  const opened = new AsyncDisposableStack();
  try {
    const server = await openNatsServer({ users: true });
    opened.defer(() => server.close());
    const { address } = opened.use(await startHistory(server, { directory: lines.directory }));
    const kept = new HttpKeptLogs({ address, timeout: 10_000 });
    opened.defer(() => kept.close());
    return {
      weir: async () => {
        const times: number[] = [];
        for (let turn = 0; turn < reads; turn += 1) {
          const begun = performance.now();
          await read(kept, lines, turn);
          times.push(performance.now() - begun);
        }
        const sorted = times.toSorted((a, b) => a - b);
        return quantile(sorted, 0.95);
      },
      close: () => opened.disposeAsync(),
    };
  } catch (err) {
    await opened.disposeAsync();
    throw err;
  }
}
