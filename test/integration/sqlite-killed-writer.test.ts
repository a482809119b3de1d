import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { killAtExit } from "../support/kill-at-exit.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const program = fileURLToPath(new URL("../support/mains/history-writer.ts", import.meta.url));

/** Starts a writer, and kills it so many milliseconds after its first batch was stored. */
async function killedWriter(file: string, after: number): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, program, file], { stdio: ["ignore", "pipe", "inherit"] });
  killAtExit(child);
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  const until = performance.now() + after;
  while (performance.now() < until) await once(child.stdout, "data");
  child.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);
}

function numberOf(database: DatabaseSync, text: string): number {
  return Number(database.prepare(`SELECT (${text}) AS number`).get()?.["number"]);
}

test("a writer that is killed at any point leaves calls, counts and position that agree", async () => {
  await using directory = await tempDirectory("killed");
  const file = join(directory.path, "calls.db");
  let last = 0;
  for (let round = 0; round < 6; round += 1) {
    await killedWriter(file, 37 * round);
    const writer = await SqliteCallHistoryWriter.open({ file });
    expect(writer.movedAside).toBeUndefined();
    const sequence = (await writer.position())?.sequence ?? 0;
    expect(sequence).toBeGreaterThan(last);
    last = sequence;
    const { calls } = await writer.size();
    await writer.close();

    const database = new DatabaseSync(file);
    expect(numberOf(database, "SELECT max(revision) FROM call")).toBe(10 * (sequence - 1) + 1);
    for (const counted of [
      "SELECT count(*) FROM call",
      "SELECT sum(calls) FROM function",
      "SELECT sum(calls) FROM minute_count",
      "SELECT sum(calls) FROM state_count",
    ])
      expect([round, counted, numberOf(database, counted)]).toEqual([round, counted, calls]);
    expect(numberOf(database, "SELECT count(*) FROM rollup WHERE step = 0 AND fn > 0")).toBe(sequence / 100);
    expect(database.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    database.close();
  }
  expect(last).toBeGreaterThanOrEqual(600);
});
