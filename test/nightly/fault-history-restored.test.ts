import { cp, rm } from "node:fs/promises";
import { join } from "node:path";

import { test } from "vitest";

import { listedRows, untilRowsAreRecords } from "../support/call-rows.ts";
import { eventually } from "../support/eventually.ts";
import { historyProcess } from "../support/history-process.ts";
import { openRecordBroker } from "../support/record-broker.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Milliseconds after which what is stored is later than a position, whatever the error of clocks. */
const later = 1_100;

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
