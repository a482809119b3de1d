import { join } from "node:path";

import { expect, test } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { seededRandom } from "../../scripts/random.ts";
import { manyBatches } from "../support/history-batches.ts";
import { historyChange, historyId } from "../support/history-calls.ts";
import { historyTables } from "../support/history-tables.ts";
import { tempDirectory } from "../support/temp-directory.ts";

test("FH4 two writers at once, each batch twice and out of order: the same tables as of one in order", async () => {
  await using directory = await tempDirectory("writers");
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = seededRandom(seed);
  const batches = manyBatches(seed);
  const [one, other] = [join(directory.path, "one.db"), join(directory.path, "other.db")];
  const alone = await SqliteCallHistoryWriter.open({ file: one });
  for (const batch of batches) await alone.apply(batch);
  await alone.close();

  const writers = [
    await SqliteCallHistoryWriter.open({ file: other }),
    await SqliteCallHistoryWriter.open({ file: other }),
  ];
  const twice = [...batches, ...batches].map((batch) => ({ batch, at: random() }));
  const mixed = twice.toSorted((a, b) => a.at - b.at);
  for (const [index, { batch }] of mixed.entries()) await writers[index % writers.length]?.apply(batch);
  for (const writer of writers) await writer.close();

  const [expected, found] = [historyTables(one), historyTables(other)];
  expect(Object.values(expected).every((rows) => rows.length > 0)).toBe(true);
  expect(found, `seed ${seed}`).toEqual(expected);
});

test("FH4 what one of two writers removed stays removed when the other one applies it again", async () => {
  await using directory = await tempDirectory("writers");
  const file = join(directory.path, "calls.db");
  const [one, other] = [await SqliteCallHistoryWriter.open({ file }), await SqliteCallHistoryWriter.open({ file })];
  const batch = { changes: [historyChange(1), historyChange(2)], rollups: [] };
  // Neither has seen that anything was removed.
  for (const writer of [one, other]) await writer.apply(batch);
  expect(await one.remove(historyId(1))).toBe(true);
  await other.apply(batch);
  expect(await other.size()).toMatchObject({ calls: 1 });
  await Promise.all([one.close(), other.close()]);
  expect(historyTables(file)["calls"]).toHaveLength(1);
});
