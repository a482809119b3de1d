import { expect } from "vitest";

import { listedRows, untilRowsAreRecords } from "./call-rows.ts";
import { eventually } from "./eventually.ts";
import { historyProcess } from "./history-process.ts";
import { openRecordBroker } from "./record-broker.ts";
import { tempDirectory } from "./temp-directory.ts";
import { writtenRecords, type CallLife } from "./written-records.ts";

export interface CatchUp {
  /** Records that are written while the history is away. */
  readonly missed: number;
  /** Calls a second that go on meanwhile, each with all changes of its record. */
  readonly rate: number;
  /** Milliseconds within which it must be level. */
  readonly within: number;
}

/** Records that are compared with their rows, member by member. */
const sampleSize = 2_000;
const comparedWithin = 120_000;

/** FH3: resolves with the milliseconds from the start of a history that was away until it is level. */
export async function catchUpUnderLoad({ missed, rate, within }: CatchUp): Promise<number> {
  await using directory = await tempDirectory("history-away");
  await using broker = await openRecordBroker();
  const { process, reads } = await historyProcess({ directory: directory.path, server: broker.server });
  const records = writtenRecords(broker.ledger);
  const stop = new AbortController();
  try {
    await process.start();
    const first = await records.write("done");
    await eventually(async () => (await reads.get(first)) !== undefined, { what: "the first row" });
    await process.stop();
    const ids = await broker.flood(missed);
    const load = records.load(rate, stop.signal);
    const began = performance.now();
    await process.start();
    await eventually(
      async () => {
        const { total } = await reads.list({ filter: {}, limit: 1 });
        return total.value > missed && (await reads.progress()).lagSeconds === 0;
      },
      { within, every: 50, what: "the history to be level" },
    );
    const took = performance.now() - began;
    stop.abort();
    await load;
    // Changes are stored in their order: when this one is, all are.
    const last = await records.write("done");
    await eventually(async () => (await reads.get(last))?.row.state === "done", { what: "the last row" });
    const rows = await listedRows(reads);
    const lives = new Map<string, CallLife>([...ids.map((id) => [id, "done"] as const), ...records.calls]);
    const wrong = [...lives].filter(([id, life]) => (rows.get(id)?.state ?? "withdrawn") !== life);
    expect(wrong).toEqual([]);
    // All records of so many would take minutes to read.
    const every = Math.ceil(lives.size / sampleSize);
    const sample = new Set([...lives.keys()].filter((_id, index) => index % every === 0));
    const read = async (id: string) => (sample.has(id) ? broker.ledger.read(id) : undefined);
    await untilRowsAreRecords({ reads, ledger: { read }, ids: lives.keys(), before: rows, within: comparedWithin });
    expect(await reads.progress()).toMatchObject({ complete: true, gaps: [] });
    expect(process.mishaps).toEqual([]);
    return took;
  } finally {
    stop.abort();
    await process.kill();
    await reads.close();
  }
}
