import { join } from "node:path";

import pino from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { buildHistoryMetrics } from "../../runtime/history/history-metrics.ts";
import { HistoryWrites } from "../../runtime/history/history-writes.ts";
import { trimHistory } from "../../runtime/history/trim-history.ts";
import { eventually } from "../support/eventually.ts";
import { historyChange, historyStart, openEntry } from "../support/history-calls.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const day = 86_400_000;
/** By which a clock is wrong, one after the other. */
const jumps = [0, day, 0, -day];

test("FH6 retention under load, with a clock that jumps a day ahead and back: it stays within its bytes, and open calls stay", async () => {
  await using directory = await tempDirectory("retention");
  const writer = await SqliteCallHistoryWriter.open({ file: join(directory.path, "calls.db") });
  const writes = new HistoryWrites(writer);
  const metrics = buildHistoryMetrics(new Registry());
  const bounds = { age: 30 * day, calls: 1_000_000, bytes: 4 * 1_048_576 };
  const stop = new AbortController();
  const log = pino({ level: "silent" });
  const [batch, batches, openOnes] = [200, 150, 10];
  let clock = historyStart;
  let looked = 0;
  const now = (): number => ((looked += 1), clock);
  const trimming = trimHistory({ writes, bounds, metrics, log, now, periods: { age: 5, size: 5 } }, stop.signal);
  let most = 0;
  for (let written = 0; written < batches; written += 1) {
    const numbers = Array.from({ length: batch }, (_, index) => written * batch + index);
    const changes = numbers.map((number) => historyChange(number, number % batch < openOnes ? openEntry : {}));
    await writes.run((each) => each.apply({ changes, rollups: [] }));
    clock = historyStart + 1_000 * written * batch + (jumps[written % jumps.length] ?? 0);
    // As much is written between two looks as within a second of a real one.
    const before = looked;
    await eventually(() => looked > before, { every: 1, what: "the next look" });
    most = Math.max(most, (await writes.run((each) => each.size())).bytes);
  }
  stop.abort();
  await trimming;
  expect(most).toBeGreaterThan(bounds.bytes);
  expect(most).toBeLessThan(1.05 * bounds.bytes);
  expect(await writer.openCalls(undefined, 10_000)).toHaveLength(batches * openOnes);
  expect((await writer.size()).calls).toBeLessThan(batches * batch);
  await writer.close();
});
