import { randomUUID } from "node:crypto";
import { join } from "node:path";

import fc from "fast-check";
import { expect, test } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import type { CallChange, HistoryBatch } from "../../runtime/core/ports/call-history.ts";
import { seededRandom } from "../../scripts/random.ts";
import { rollupPoint } from "../contract/call-history-rollups.contract.ts";
import { historyChange, historyId, historyStart, historySyncCall, openEntry } from "../support/history-calls.ts";
import { historyTables } from "../support/history-tables.ts";
import { randomCalls } from "../support/random-call.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** All that may be stored, in order: each change in a batch with others. */
function manyBatches(seed: number): readonly HistoryBatch[] {
  const stories = fc.sample(randomCalls(40), { numRuns: 150, seed });
  const changes: CallChange[] = [];
  for (const [index, story] of stories.entries()) {
    const id = randomUUID();
    const namespace = index % 3 === 0 ? "shop" : "functions";
    for (const change of story.changes)
      changes.push({ ...change, id, entry: { ...change.entry, namespace, function: `f${index % 5}` } });
    // Only what was never claimed is withdrawn.
    if (index % 10 === 0)
      changes.push(historyChange(1_000 + index, openEntry, 1), {
        kind: "withdrawn",
        id: historyId(1_000 + index),
        revision: 2,
      });
    if (index % 4 === 0) changes.push({ kind: "sync", call: historySyncCall(index) });
  }
  const size = 40;
  return Array.from({ length: Math.ceil(changes.length / size) }, (_, index) => ({
    changes: changes.slice(index * size, (index + 1) * size),
    rollups: [rollupPoint(10 * index), rollupPoint(10 * index, { namespace: "shop", name: "f0" }, { source: "other" })],
    ...(index % 7 === 0 ? { gap: { from: historyStart, to: historyStart + 1_000 * index } } : {}),
  }));
}

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
