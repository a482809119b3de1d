import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { RollupPoint } from "../../runtime/core/history/rollups/rollup.ts";
import type { CallChange, CallPlace } from "../../runtime/core/ports/call-history.ts";
import { endedRecord } from "../../test/support/record-broker.ts";
import { say } from "../tools.ts";

/** A directory with the file of a history that has many calls and rollups. */
export interface MillionCalls {
  readonly directory: string;
  /** Ids of some calls. */
  readonly ids: readonly string[];
  /** Where the last of many pages begins. */
  readonly deepPlace: CallPlace;
  /** Those that have calls. */
  readonly functions: readonly FunctionRef[];
  /** Those that have rollups. */
  readonly counted: readonly FunctionRef[];
  /** The time of the rollups, Unix milliseconds; a full hour. */
  readonly since: number;
  readonly until: number;
}

export const callCount = 1_000_000;
export const pageSize = 50;
export const deepPage = 1_000;

const [batchSize, day, hour, minute] = [1_000, 86_400_000, 3_600_000, 60_000];
/** Calls end before they are too old for the history, while the bench runs. */
const span = 6 * day;
const countedFunctions = 50;
const everyPoint = 10 * minute;
const idEvery = 997;

let made: Promise<MillionCalls> | undefined;

/** Makes it once per process of the bench, at whose end it is removed. */
export function millionCalls(): Promise<MillionCalls> {
  made ??= make();
  return made;
}

async function make(): Promise<MillionCalls> {
  const directory = mkdtempSync(join(tmpdir(), "weir-bench-million-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  say(`A history of ${callCount} calls is made`);
  const writer = await SqliteCallHistoryWriter.open({ file: join(directory, "calls.db") });
  try {
    const calls = await writeCalls(writer);
    return { directory, ...calls, ...(await writeRollups(writer)) };
  } finally {
    await writer.close();
  }
}

async function writeCalls(writer: SqliteCallHistoryWriter) {
  const begin = Date.now() - span;
  const ids: string[] = [];
  let deepPlace: CallPlace = { accepted: 0, id: "" };
  for (let from = 0; from < callCount; from += batchSize) {
    const changes: CallChange[] = [];
    for (let number = from; number < from + batchSize; number += 1) {
      const [id, accepted] = [randomUUID(), Math.round(begin + (number * span) / callCount)];
      if (number % idEvery === 0) ids.push(id);
      if (number === callCount - (deepPage - 1) * pageSize) deepPlace = { accepted, id };
      changes.push({ kind: "entry", id, revision: 3 * number + 1, entry: entryOf(number, accepted) });
    }
    await writer.apply({ changes, rollups: [] });
  }
  const functions = Array.from({ length: 20 }, (_, index) => ({ namespace: "functions", name: `function-${index}` }));
  return { ids, deepPlace, functions };
}

/** Two of a hundred calls fail, one is cancelled. */
function entryOf(number: number, accepted: number): CallEntry {
  const attempt = { number: 1, startedAt: accepted + 3, endedAt: accepted + 15, status: 200, duration: 11.25 };
  const place = { worker: "node-1:4711", replica: "127.0.0.1:40123" };
  const done = { ...endedRecord(number), accepted: `${accepted}123456`, attempts: [{ ...attempt, ...place }] };
  const entry = { ...done, ended: accepted + 16, expires: accepted + hour };
  if (number % 50 === 7) return { ...entry, state: "failed", reason: "exhausted", status: 503 };
  return number % 100 === 11 ? { ...entry, state: "cancelled", status: null } : entry;
}

async function writeRollups(writer: SqliteCallHistoryWriter) {
  const until = Math.floor(Date.now() / hour) * hour;
  const since = until - 7 * day;
  const counted = Array.from({ length: countedFunctions }, (_, index) => ({
    namespace: "shop",
    name: `counted-${index}`,
  }));
  for (let at = since; at < until; at += everyPoint)
    await writer.apply({ changes: [], rollups: counted.map((ref, index) => pointOf(ref, at, index)) });
  return { counted, since, until };
}

/** Durations of a function are in a dozen cells. */
function pointOf(ref: FunctionRef, at: number, index: number): RollupPoint {
  const durations = Array.from({ length: 12 }, (_, cell) => [
    20 + ((index + cell) % 30),
    1 + ((at / everyPoint + cell) % 9),
  ]);
  return {
    ...ref,
    source: "gateway-1",
    at,
    calls: [0, 90, 0, 3, 1],
    coldStarts: index % 3,
    durations: durations.toSorted(([a = 0], [b = 0]) => a - b).flat(),
    replicas: 2,
    inFlight: index % 5,
  };
}
