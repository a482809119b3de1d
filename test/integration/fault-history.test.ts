import { cp, rm } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, expect, test } from "vitest";

import { listedRows, untilRowsAreRecords } from "../support/call-rows.ts";
import { catchUpUnderLoad } from "../support/catch-up.ts";
import { eventually, patience } from "../support/eventually.ts";
import { openHistoryBench, type HistoryBench } from "../support/history-bench.ts";
import { historyProcess } from "../support/history-process.ts";
import { notAccepted } from "../support/load.ts";
import { notEmpty } from "../support/not-empty.ts";
import { openRecordBroker } from "../support/record-broker.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const rate = 60;
/** Milliseconds after which what is stored is later than a position, whatever the error of clocks. */
const later = 1_100;

let bench: HistoryBench | undefined;
afterEach(async () => {
  await bench?.close();
  bench = undefined;
});

test("FH2 the broker killed under load, then the stream of records created anew: the rows are the records", async () => {
  const opened = (bench = await openHistoryBench({ slots: 8, ackWait: 8_000 }));
  const { history, platform, busy } = opened;
  const { server, broker, doctor } = platform;
  const stop = new AbortController();
  const load = opened.load({ rate, count: 100_000, signal: stop.signal });
  for (let kill = 0; kill < 2; kill += 1) {
    await busy();
    await server.kill();
    await server.restart();
  }
  await busy();
  stop.abort();
  await load;
  const { account, violations } = await opened.settle();
  expect(violations).toEqual([]);
  const ids = notEmpty(account.sent, "call").map(({ id }) => id);
  const compared = { reads: history.reads, ledger: broker.ledger };
  await untilRowsAreRecords({ ...compared, ids });
  expect(await history.reads.progress()).toMatchObject({ complete: true, gaps: [] });

  const before = await listedRows(history.reads);
  await doctor.stop();
  await broker.deleteRecords();
  await doctor.start();
  const again = await opened.load({ rate, count: 30 });
  expect(notAccepted(again.sent)).toEqual([]);
  const more = again.sent.map(({ id }) => id);
  for (const id of more) await platform.calls.ended(id);
  await untilRowsAreRecords({ ...compared, ids: [...ids, ...more], before });
});

test("FH2 the store restored from a backup, and used before the history is back: the rows are the records", async () => {
  await using directory = await tempDirectory("history");
  await using broker = await openRecordBroker();
  const { server, ledger } = broker;
  const { process, reads } = await historyProcess({ directory: directory.path, server });
  const backup = join(directory.path, "backup");
  // The first write after a restart may find the broker away.
  const flood = (count: number) => eventually(() => broker.flood(count), { what: "the broker to store" });
  try {
    const first = await flood(50);
    await process.start();
    await untilRowsAreRecords({ reads, ledger, ids: first });
    await server.stop();
    await cp(server.storeDirectory, backup, { recursive: true });
    await server.restart();
    const lost = await flood(30);
    const written = performance.now();
    await untilRowsAreRecords({ reads, ledger, ids: [...first, ...lost] });
    const before = await listedRows(reads);
    await process.stop();
    await server.stop();
    await rm(server.storeDirectory, { recursive: true });
    await cp(backup, server.storeDirectory, { recursive: true });
    await eventually(() => performance.now() - written > later, { what: "a later time" });
    await server.restart();
    // They take the places of those that were lost, and more.
    const more = await flood(100);
    await process.start();
    await untilRowsAreRecords({ reads, ledger, ids: [...first, ...lost, ...more], before });
  } finally {
    await process.kill();
    await reads.close();
  }
});

test("FH3 3 000 entries while it is away, and more that come meanwhile: it is level, and the rows are the records", async () => {
  await catchUpUnderLoad({ missed: 3_000, rate: 100, within: patience });
});
