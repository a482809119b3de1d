import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, expect, test } from "vitest";

import { listedRows, untilRowsAreRecords } from "../support/call-rows.ts";
import { catchUpUnderLoad } from "../support/catch-up.ts";
import { eventually } from "../support/eventually.ts";
import { inWords } from "../support/figure.ts";
import { historyProcess } from "../support/history-process.ts";
import { openHistoryBench, stopFor, type HistoryBench } from "../support/history-bench.ts";
import { notAccepted, quantile, type LoadSummary } from "../support/load.ts";
import { notEmpty } from "../support/not-empty.ts";
import { openRecordBroker } from "../support/record-broker.ts";
import { say } from "../support/say.ts";
import { openSmallDisk, type SmallDisk } from "../support/small-disk.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { writtenRecords } from "../support/written-records.ts";

const rate = 60;
const minute = 60_000;
const megabyte = 1_048_576;
/** Bytes that a history process may hold more after a fault: its caches are not all filled at its start. */
const moreMemory = 12 * megabyte;

let bench: HistoryBench | undefined;
let disk: SmallDisk | undefined;
afterEach(async () => {
  await bench?.close();
  await disk?.[Symbol.asyncDispose]();
  bench = disk = undefined;
});

/** Loads while `act` runs; no call may fail. */
async function loaded(opened: HistoryBench, act: () => Promise<void>): Promise<LoadSummary> {
  const stop = new AbortController();
  const load = opened.load({ rate, count: 1_000_000, signal: stop.signal });
  try {
    await act();
  } finally {
    stop.abort();
  }
  const summary = await load;
  expect(notAccepted(summary.sent)).toEqual([]);
  return summary;
}

/** The history lists all calls that were sent, as their records say, once they have settled as they must. */
async function untilWhole(opened: HistoryBench): Promise<readonly string[]> {
  const { account, violations } = await opened.settle({ within: 60_000 });
  expect(violations).toEqual([]);
  const ids = notEmpty(account.sent, "call").map(({ id }) => id);
  const { reads } = opened.history;
  await untilRowsAreRecords({ reads, ledger: opened.platform.broker.ledger, ids });
  expect(await reads.progress()).toMatchObject({ complete: true, gaps: [] });
  return ids;
}

const p99 = ({ latencies }: LoadSummary): string => inWords(quantile(latencies, 0.99));

test("FH1 history killed 20 times, stopped for a minute, and a minute without room: no call fails, and it has the row of each", async () => {
  // Where this user may not mount a file system, the rest is tried anyway.
  disk = await openSmallDisk(64 * megabyte);
  const opened = (bench = await openHistoryBench({ slots: 8, historyDirectory: disk?.path }));
  const { history, busy } = opened;
  await history.process.stop();
  const without = await loaded(opened, () => busy(600));
  await history.process.start();
  const killed = await loaded(opened, async () => {
    for (let kill = 0; kill < 20; kill += 1) {
      await busy();
      await history.process.kill();
      await busy();
      await history.process.start();
    }
  });
  const held = await history.process.measure();
  const stopped = await loaded(opened, () => stopFor(history, minute));
  const full = await loaded(opened, async () => {
    const begun = performance.now();
    disk?.fill(0);
    await eventually(() => performance.now() - begun > minute, { within: 2 * minute, what: "a minute" });
    disk?.empty();
  });
  say(
    `FH1: p99 of the 202 ${p99(without)} without history; killed ${p99(killed)}, stopped ${p99(stopped)}, full ${p99(full)}`,
  );
  await untilWhole(opened);
  const holds = await history.process.measure();
  expect(holds.memory).toBeLessThan(held.memory + moreMemory);
  const said = (text: string): boolean => history.process.log.some(({ msg }) => msg === text);
  expect(disk === undefined || said("cannot store the history of calls")).toBe(true);
  expect(history.process.mishaps).toEqual([]);
}, 900_000);

test("FH2 the broker killed 8 times under load, the stream of records created anew twice: the rows are the records", async () => {
  const opened = (bench = await openHistoryBench({ slots: 8, ackWait: 8_000 }));
  const { history, platform, busy } = opened;
  const { server, broker, doctor } = platform;
  const stop = new AbortController();
  const load = opened.load({ rate, count: 1_000_000, signal: stop.signal });
  for (let kill = 0; kill < 8; kill += 1) {
    await busy(60);
    await server.kill();
    await server.restart();
  }
  await busy();
  stop.abort();
  await load;
  const ids = [...(await untilWhole(opened))];
  for (let time = 0; time < 2; time += 1) {
    const before = await listedRows(history.reads);
    await doctor.stop();
    await broker.deleteRecords();
    await doctor.start();
    const { sent } = await opened.load({ rate, count: 200 });
    expect(notAccepted(sent)).toEqual([]);
    for (const { id } of sent) await platform.calls.ended(id);
    ids.push(...sent.map(({ id }) => id));
    await untilRowsAreRecords({ reads: history.reads, ledger: broker.ledger, ids, before });
  }
}, 600_000);

test("FH3 200 000 entries while it is away, and up to 2 000 calls a second meanwhile: it is level within a minute", async () => {
  const took = await catchUpUnderLoad({ missed: 200_000, rate: 2_000, within: 60_000 });
  say(`FH3: level after ${inWords(took)} with 200 000 entries and up to 2 000 calls/s`);
}, 600_000);

/** Bytes of the pages of a SQLite file that hold something. */
function bytesInUse(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const pragma = (name: string): number => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  } finally {
    database.close();
  }
}

test("FH6 retention at up to 1 000 calls a second: it stays within its bytes, and open calls stay", async () => {
  await using directory = await tempDirectory("history");
  await using broker = await openRecordBroker();
  const limit = 24 * megabyte;
  const { process, reads } = await historyProcess({
    directory: directory.path,
    server: broker.server,
    flags: [`--history-bytes=${limit}`],
  });
  const records = writtenRecords(broker.ledger);
  const stop = new AbortController();
  const countOf = async (states?: readonly ["queued" | "running" | "waiting"]): Promise<number> =>
    (await reads.list({ filter: states === undefined ? {} : { states }, limit: 1 })).total.value;
  try {
    await process.start();
    await broker.flood(80_000);
    const load = records.load(1_000, stop.signal);
    let most = 0;
    // Until as much has come as it may hold, and more.
    await eventually(
      async () => {
        most = Math.max(most, bytesInUse(join(directory.path, "calls.db")));
        return records.calls.size > 40_000;
      },
      { within: 300_000, every: 100, what: "the calls" },
    );
    stop.abort();
    await load;
    const open = (["queued", "running", "waiting"] as const).map((state) => {
      const written = [...records.calls.values()].filter((life) => life === state).length;
      return { state, written };
    });
    await eventually(
      async () => {
        for (const { state, written } of open) expect([state, await countOf([state])]).toEqual([state, written]);
        return true;
      },
      { what: "all open calls" },
    );
    const onDisk = await Promise.all(["calls.db", "calls.db-wal"].map((name) => stat(join(directory.path, name))));
    const size = onDisk.reduce((sum, file) => sum + file.size, 0);
    say(
      `FH6: at most ${Math.round(most / megabyte)} MiB of ${limit / megabyte} in use, ${Math.round(size / megabyte)} MiB on disk`,
    );
    expect(most).toBeGreaterThan(0.9 * limit);
    expect(most).toBeLessThan(1.05 * limit);
    expect(await countOf()).toBeLessThan(80_000 + records.calls.size);
    expect(process.mishaps).toEqual([]);
  } finally {
    stop.abort();
    await process.kill();
    await reads.close();
  }
}, 600_000);
