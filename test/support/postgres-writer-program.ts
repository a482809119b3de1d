import { PostgresCallHistoryWriter } from "../../runtime/adapters/postgres/calls/postgres-call-history-writer.ts";
import { PostgresDatabase } from "../../runtime/adapters/postgres/database/postgres-database.ts";
import { historyChange, historyStart } from "./history-calls.ts";

/**
 * Writes batches into the database of the URI in its first argument until it is killed; a line of its output = one was
 * stored.
 */
const [, , uri = ""] = process.argv;
const writer = await PostgresCallHistoryWriter.open(await PostgresDatabase.at(uri));
const before = (await writer.position())?.sequence ?? 0;
for (let first = before; ; first += 100) {
  const position = { created: "stream", sequence: first + 100, at: historyStart, base: 0 };
  const changes = Array.from({ length: 100 }, (_, index) => historyChange(first + index));
  const point = { namespace: "functions", name: "echo", source: "gateway", at: historyStart + 100 * first };
  await writer.apply({ changes, rollups: [{ ...point, calls: [0, 100, 0, 0, 0] }], position });
  if (first > 1_000) await writer.trim({ age: 1e12, calls: 1_000, bytes: 1e12 }, historyStart);
  process.stdout.write("stored\n");
}
