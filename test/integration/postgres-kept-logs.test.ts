import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { PostgresDatabase } from "../../runtime/adapters/postgres/database/postgres-database.ts";
import { PostgresKeptLogsWriter } from "../../runtime/adapters/postgres/logs/postgres-kept-logs-writer.ts";
import { PostgresKeptLogs } from "../../runtime/adapters/postgres/logs/postgres-kept-logs.ts";
import { readKeptLines } from "../../runtime/core/history/logs/read-kept-lines.ts";
import { keptLogsContract } from "../contract/kept-logs.contract.ts";
import { patientReads } from "../support/postgres-history.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";

const pay = { namespace: "shop", name: "pay" };

let server: PostgresServer;
beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

async function open() {
  const uri = await server.newDatabase();
  const database = await PostgresDatabase.at(uri, patientReads);
  const writer = await PostgresKeptLogsWriter.open(database);
  return { uri, reads: new PostgresKeptLogs(database), writer, close: () => database.close() };
}

const lineAt = (second: number, text: string, number = 0) => ({
  ...pay,
  instance: "a",
  timestamp: new Date(1_800_000_000_000 + 1_000 * second).toISOString(),
  text: `${text}\n`,
  number,
});

describe("PostgresKeptLogs", () => keptLogsContract(open));

test("a line may hold anything, and is found by any part of it", async () => {
  const { reads, writer, close } = await open();
  try {
    const texts = ["a\0b", "\u{1b}[31m☃\u{10ffff}", String.raw`\x00 {"a"} 'b' "c" %_`, ""];
    await writer.append(texts.map((text, number) => lineAt(1, text, number)));
    const found = await Array.fromAsync(readKeptLines(reads, pay));
    expect(found.map(({ text }) => text)).toEqual(texts.map((text) => `${text}\n`));
    for (const part of ["\0b", "☃", String.raw`\x00`, "%_"]) {
      const { lines } = await reads.lines({ ...pay, containing: part, limit: 10 });
      expect(lines.map(({ text }) => text)).toEqual(
        texts.filter((text) => text.includes(part)).map((text) => `${text}\n`),
      );
    }
    expect(await reads.lines({ namespace: "shop\0", name: "pay", limit: 1 })).toEqual({ lines: [] });
  } finally {
    await close();
  }
});

test("two processes that keep the same log have each of its lines once", async () => {
  const { uri, reads, writer, close } = await open();
  const database = await PostgresDatabase.at(uri, patientReads);
  try {
    const other = await PostgresKeptLogsWriter.open(database);
    const lines = Array.from({ length: 200 }, (_, second) => lineAt(second, `line ${second}`));
    const batches = Array.from({ length: 20 }, (_, index) => lines.slice(0, 10 * (index + 1)));
    await Promise.all(batches.flatMap((batch) => [writer.append(batch), other.append(batch)]));
    const found = await Array.fromAsync(readKeptLines(reads, pay));
    // A later batch that came first covers what is before it: each replica has one reader at a time.
    expect(new Set(found.map(({ text }) => text)).size).toBe(found.length);
    expect(found.at(-1)?.text).toBe("line 199\n");
    expect((await writer.size()).lines).toBe(found.length);
  } finally {
    await database.close();
    await close();
  }
});
