import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import type { StreamPosition } from "../../runtime/core/ports/call-history.ts";
import { eventually } from "../support/eventually.ts";
import { killAtExit } from "../support/kill-at-exit.ts";
import { RecordedCalls, untilLed } from "../support/recorded-calls.ts";

const hour = 3_600_000;

let recorded: RecordedCalls;

beforeAll(async () => {
  recorded = await RecordedCalls.open();
});
afterAll(() => recorded?.close());
beforeEach(() => recorded.begin());
afterEach(async () => {
  // Only those that a test ended by force end otherwise than they should.
  expect(await recorded.end()).toEqual([]);
});

const write = (life: Parameters<RecordedCalls["records"]["write"]>[0]) => recorded.records.write(life);

describe("the history process", () => {
  test("has the row of each record, and says how far it is", async () => {
    const history = await recorded.start();
    await untilLed(history);
    for (const life of ["queued", "running", "waiting", "done", "failed", "cancelled", "withdrawn"] as const)
      for (let count = 0; count < 3; count += 1) await write(life);
    await recorded.untilEqual(history);
    expect(await history.reads.progress()).toEqual({ lagSeconds: 0, complete: true, gaps: [] });
    expect(await history.metric("history_gaps_total")).toBe(0);
    expect((await history.metric("history_applied_total")) ?? 0).toBeGreaterThanOrEqual(18);
  });

  test("goes on at the position after the last one: nothing is read twice, nothing is missing", async () => {
    const history = await recorded.start();
    for (let count = 0; count < 10; count += 1) await write("done");
    await recorded.untilEqual(history);
    await history.process.stop();
    for (let count = 0; count < 5; count += 1) await write("done");
    await history.process.start();
    await recorded.untilEqual(history);
    expect(await history.metric("history_applied_total")).toBe(5);
    expect((await history.reads.progress()).gaps).toEqual([]);
  });

  test("reads a stream that was created anew, and knows no end of calls whose records are gone", async () => {
    const history = await recorded.start();
    const open = await write("running");
    const done = await write("done");
    await recorded.untilEqual(history);
    await recorded.createAnew();
    const next = await write("queued");
    await eventually(async () => (await history.reads.get(next))?.row.state === "queued", { what: "the next call" });
    await eventually(async () => (await history.reads.get(open))?.row.state === "unknown", { what: "the lost call" });
    expect((await history.reads.get(done))?.row.state).toBe("done");
  });

  test("has its directory alone, and lets go of it and of its lease when it stops", async () => {
    const history = await recorded.start();
    await untilLed(history);
    const second = spawn(process.execPath, [
      "runtime/history/main.ts",
      "--admin-port=0",
      `--history-dir=${recorded.directory}`,
    ]);
    killAtExit(second);
    expect(await text(second.stderr)).toMatch(/Cannot open the history in .*: process \d+ uses it/);
    expect(existsSync(join(recorded.directory, "api.sock"))).toBe(true);
    const { code } = await history.process.stop();
    expect(code).toBe(0);
    expect(existsSync(join(recorded.directory, "api.sock"))).toBe(false);
    await expect(readFile(join(recorded.directory, "lock"))).rejects.toThrow("ENOENT");
  });
});

describe("a history that was away", () => {
  /** As if it had stopped an hour ago. */
  function stoppedAnHourAgo(): void {
    const database = new DatabaseSync(join(recorded.directory, "calls.db"));
    const found = database.prepare("SELECT position FROM progress").get()?.["position"];
    const position = JSON.parse(String(found)) as StreamPosition;
    database.prepare("UPDATE progress SET position = ?").run(JSON.stringify({ ...position, at: Date.now() - hour }));
    database.close();
  }

  /** A call that ended and whose record expired meanwhile. */
  async function missedCall(): Promise<void> {
    recorded.ttl = 1_000;
    const id = await write("done");
    await eventually(async () => (await recorded.ledger.read(id)) === undefined, { what: "the record to expire" });
    recorded.ttl = hour;
  }

  test("writes the gap, and goes on", async () => {
    const history = await recorded.start({ monitored: false });
    await write("done");
    await recorded.untilEqual(history);
    await history.process.stop();
    stoppedAnHourAgo();
    await missedCall();
    const next = await write("done");
    await history.process.start();
    await eventually(async () => (await history.reads.get(next)) !== undefined, { what: "the next call" });
    const { gaps, complete } = await eventually(
      async () => {
        const progress = await history.reads.progress();
        return progress.gaps.length > 0 ? progress : undefined;
      },
      { what: "the gap" },
    );
    const [gap] = gaps;
    expect([gaps.length, complete]).toEqual([1, true]);
    expect((gap?.to ?? 0) - (gap?.from ?? 0)).toBeGreaterThan(hour - 180_000);
    expect(gap?.to).toBeLessThanOrEqual(Date.now() - 120_000);
    expect(await history.metric("history_gaps_total")).toBe(1);
    expect(history.process.log.some(({ msg }) => msg === "records of calls were missed")).toBe(true);
  });

  test("writes none when nothing changed, or the broker started since", async () => {
    const history = await recorded.start();
    await write("done");
    await recorded.untilEqual(history);
    await history.process.stop();
    await recorded.server.restart();
    stoppedAnHourAgo();
    await missedCall();
    const next = await write("done");
    await history.process.start();
    await eventually(async () => (await history.reads.get(next)) !== undefined, { what: "the next call" });
    expect(await history.reads.progress()).toMatchObject({ complete: true, gaps: [] });
  });
});
