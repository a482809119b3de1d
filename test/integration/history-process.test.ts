import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import type { StreamPosition } from "../../runtime/core/ports/call-history.ts";
import { sampleQueue } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";

import { killAtExit } from "../support/kill-at-exit.ts";
import { historyProcess, type TestHistory } from "../support/history-process.ts";
import { say } from "../support/say.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { writtenRecords, type WrittenRecords } from "../support/written-records.ts";

const facts = {
  maxFileStore: 1_073_741_824,
  payloadLimit: 1_048_576,
  maxCallRecords: 100_000,
  replicas: 1,
  oneMachine: true,
};
const hour = 3_600_000;

let directory: TempDirectory;
let server: TestNatsServer;
let doctor: NatsLink;
let gateway: NatsLink;
let ledger: NatsCallLedger;
let records: WrittenRecords;
let ttl: number;
let histories: TestHistory[];

const connect = (user: string): Promise<NatsLink> =>
  NatsLink.open({ name: user, pingInterval: 1_000, ...server.access(user) });

const provision = () => new NatsQueueStore(doctor, facts).provision([sampleQueue()], []);

beforeEach(async () => {
  ttl = hour;
  histories = [];
  directory = await tempDirectory("history");
  server = await openNatsServer({ users: true });
  doctor = await connect(natsUser.doctor);
  gateway = await connect(natsUser.gateway);
  ledger = new NatsCallLedger(gateway, () => ttl, { accepts: true });
  records = writtenRecords(ledger);
  await provision();
});
afterEach(async () => {
  for (const { process, reads } of histories) {
    await process.kill();
    await reads.close();
  }
  await Promise.all([doctor, gateway].map((link) => link?.close()));
  await server?.close();
  await directory?.remove();
  // Only those that a test ended by force end otherwise than they should.
  expect(histories.flatMap(({ process }) => process.mishaps)).toEqual([]);
});

async function open(options: { readonly monitored?: boolean } = {}): Promise<TestHistory> {
  const history = await historyProcess({ directory: directory.path, server, ...options });
  histories.push(history);
  await history.process.start();
  return history;
}

/** Waits until the history has what the records say, call by call. */
async function untilEqual({ reads }: TestHistory): Promise<void> {
  for (const [id, life] of records.calls) {
    const record = await ledger.read(id);
    await eventually(
      async () => {
        const call = await reads.get(id);
        if (life === "withdrawn") return call === undefined;
        return call?.row.state === record?.entry.state && call?.row.revision === record?.revision;
      },
      { what: `call ${id}, which is ${life}`, every: 50 },
    );
  }
  const { total } = await reads.list({ filter: {}, limit: 1 });
  const kept = [...records.calls.values()].filter((life) => life !== "withdrawn").length;
  expect(total.value).toBe(kept);
}

const untilLed = (history: TestHistory) =>
  eventually(async () => (await history.metric("history_leader")) === 1, { what: "the history to be the leader" });

describe("the history process", () => {
  test("has the row of each record, and says how far it is", async () => {
    const history = await open();
    await untilLed(history);
    for (const life of ["queued", "running", "waiting", "done", "failed", "cancelled", "withdrawn"] as const)
      for (let count = 0; count < 5; count += 1) await records.write(life);
    await untilEqual(history);
    expect(await history.reads.progress()).toEqual({ lagSeconds: 0, complete: true, gaps: [] });
    expect(await history.metric("history_gaps_total")).toBe(0);
    expect((await history.metric("history_applied_total")) ?? 0).toBeGreaterThanOrEqual(30);
  });

  test("goes on at the position after the last one: nothing is read twice, nothing is missing", async () => {
    const history = await open();
    for (let count = 0; count < 20; count += 1) await records.write("done");
    await untilEqual(history);
    await history.process.stop();
    for (let count = 0; count < 10; count += 1) await records.write("done");
    await history.process.start();
    await untilEqual(history);
    expect(await history.metric("history_applied_total")).toBe(10);
    expect((await history.reads.progress()).gaps).toEqual([]);
  });

  test("killed 4 times at any point of a batch, it has the rows of the records", async () => {
    const history = await open();
    const stop = new AbortController();
    const load = records.load(200, stop.signal);
    for (let kill = 0; kill < 4; kill += 1) {
      // At another point of its work each time: right after its start, within a batch, between two.
      await pause(110 * kill);
      await history.process.kill();
      await history.process.start();
    }
    stop.abort();
    await load;
    await untilEqual(history);
    expect(records.calls.size).toBeGreaterThan(100);
    expect(await history.reads.progress()).toMatchObject({ gaps: [] });
  });

  test("stopped for a while, and with the broker killed, it has the rows of the records", async () => {
    const history = await open();
    await untilLed(history);
    const stop = new AbortController();
    const load = records.load(100, stop.signal);
    for (let round = 0; round < 2; round += 1) {
      history.process.pause();
      // Longer than its lease.
      await pause(2_500);
      history.process.resume();
      await server.kill();
      await server.restart();
    }
    stop.abort();
    await load;
    await untilEqual(history);
  });

  test("reads a stream that was created anew, and knows no end of calls whose records are gone", async () => {
    const history = await open();
    const open1 = await records.write("running");
    const done = await records.write("done");
    await untilEqual(history);
    await doctor.jsm.streams.delete("KV_calls");
    await provision();
    const next = await records.write("queued");
    await eventually(async () => (await history.reads.get(next))?.row.state === "queued", { what: "the next call" });
    await eventually(async () => (await history.reads.get(open1))?.row.state === "unknown", { what: "the lost call" });
    expect((await history.reads.get(done))?.row.state).toBe("done");
  });

  test("lags while the broker is away, which its metric and the gateway see, and not after", async () => {
    const history = await open();
    await records.write("done");
    await untilEqual(history);
    await server.stop();
    await eventually(async () => ((await history.metric("history_lag_seconds")) ?? 0) > 1, { what: "a lag" });
    expect((await history.reads.progress()).lagSeconds).toBeGreaterThan(1);
    await server.restart();
    await eventually(async () => (await history.metric("history_lag_seconds")) === 0, { what: "no lag" });
  });

  test("refuses a directory that another process has", async () => {
    await open();
    const second = spawn(process.execPath, [
      "runtime/history/main.ts",
      "--admin-port=0",
      `--history-dir=${directory.path}`,
    ]);
    killAtExit(second);
    expect(await text(second.stderr)).toMatch(/Cannot open the history in .*: process \d+ uses it/);
    expect(existsSync(join(directory.path, "api.sock"))).toBe(true);
  });

  test("lets go of its lease and directory when it stops", async () => {
    const history = await open();
    await untilLed(history);
    const { code } = await history.process.stop();
    expect(code).toBe(0);
    expect(existsSync(join(directory.path, "api.sock"))).toBe(false);
    await expect(readFile(join(directory.path, "lock"))).rejects.toThrow("ENOENT");
  });

  test("has a row soon after its record while others are written as fast as they can", async () => {
    const history = await open();
    await untilLed(history);
    const stop = new AbortController();
    const load = records.load(2_000, stop.signal);
    let longest = 0;
    for (let look = 0; look < 20; look += 1) {
      const id = await records.write("done");
      const written = performance.now();
      await eventually(async () => (await history.reads.get(id)) !== undefined, { every: 10, what: "its row" });
      longest = Math.max(longest, performance.now() - written);
    }
    stop.abort();
    await load;
    say(`H3: a row at most ${Math.round(longest)} ms after its record, at up to 2 000 calls/s`);
    expect(records.calls.size).toBeGreaterThan(100);
  });
});

describe("a history that was away", () => {
  /** As if it had stopped an hour ago. */
  function stoppedAnHourAgo(): void {
    const database = new DatabaseSync(join(directory.path, "calls.db"));
    const found = database.prepare("SELECT position FROM progress").get()?.["position"];
    const position = JSON.parse(String(found)) as StreamPosition;
    database.prepare("UPDATE progress SET position = ?").run(JSON.stringify({ ...position, at: Date.now() - hour }));
    database.close();
  }

  /** A call that ended and whose record expired meanwhile. */
  async function missedCall(): Promise<void> {
    ttl = 1_000;
    const id = await records.write("done");
    await eventually(async () => (await ledger.read(id)) === undefined, { what: "the record to expire" });
    ttl = hour;
  }

  test("writes the gap, and goes on", async () => {
    const history = await open({ monitored: false });
    await records.write("done");
    await untilEqual(history);
    await history.process.stop();
    stoppedAnHourAgo();
    await missedCall();
    const next = await records.write("done");
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
    const history = await open();
    await records.write("done");
    await untilEqual(history);
    await history.process.stop();
    stoppedAnHourAgo();
    await missedCall();
    const next = await records.write("done");
    await history.process.start();
    await eventually(async () => (await history.reads.get(next)) !== undefined, { what: "the next call" });
    expect(await history.reads.progress()).toMatchObject({ complete: true, gaps: [] });
  });
});
