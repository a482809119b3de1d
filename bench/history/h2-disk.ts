import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import { endedRecord } from "../../test/support/record-broker.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import type { BenchRow } from "../bench-row.ts";

const [calls, batchSize] = [50_000, 1_000];

/** H2: bytes of the history's file for each call. */
export const h2Disk: readonly BenchRow[] = [
  row("a call with one attempt", 450, endedRecord),
  row("a call with two attempts and a callback", 700, retriedRecord),
];

function row(what: string, bar: number, entryOf: (number: number) => CallEntry): BenchRow {
  return {
    id: "H2",
    what: `history: disk of ${what}`,
    peer: "nothing",
    unit: "bytes",
    judged: "value",
    lessIsBetter: true,
    firstBar: bar,
    goal: bar,
    open: async () => ({ weir: () => bytesOfCall(entryOf), close: async () => {} }),
  };
}

async function bytesOfCall(entryOf: (number: number) => CallEntry): Promise<number> {
  await using directory = await tempDirectory("bench-history");
  const file = join(directory.path, "calls.db");
  const writer = await SqliteCallHistoryWriter.open({ file });
  for (let from = 0; from < calls; from += batchSize) {
    const numbers = Array.from({ length: batchSize }, (_, index) => from + index);
    const changes = numbers.map((number) => ({
      kind: "entry" as const,
      id: randomUUID(),
      revision: number + 1,
      entry: entryOf(number),
    }));
    await writer.apply({ changes, rollups: [] });
  }
  // It writes its log into the file.
  await writer.close();
  return (await stat(file)).size / calls;
}

/** Its first attempt failed, and its callback was sent. */
function retriedRecord(number: number): CallEntry {
  const done = endedRecord(number);
  const [attempt] = done.attempts;
  if (attempt === undefined) throw new TypeError("an ended call has an attempt");
  const { endedAt: at = 0 } = attempt;
  return {
    ...done,
    run: 2,
    retries: 1,
    attempts: [
      { ...attempt, status: 503, next: at + 10_000 },
      { ...attempt, number: 2, startedAt: at + 10_000, endedAt: at + 10_012 },
    ],
    ended: at + 10_012,
    callback: {
      url: "https://receiver.example.com/hooks/weir?token=7f3c1d525c0e4d7b",
      state: "sent",
      attempts: 1,
      status: 204,
      first: at + 10_020,
      until: at + 3_610_020,
      tries: [{ number: 1, at: at + 10_020, status: 204, ms: 31 }],
    },
  };
}
