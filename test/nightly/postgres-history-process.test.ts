import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { historyProcess, type TestHistory } from "../support/history-process.ts";
import { killAtExit } from "../support/kill-at-exit.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";
import { postgresCounts } from "../support/postgres-tables.ts";
import { openRecordBroker, type RecordBroker } from "../support/record-broker.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { untilRecorded } from "../support/until-recorded.ts";
import { writtenRecords, type WrittenRecords } from "../support/written-records.ts";

let server: PostgresServer;
let broker: RecordBroker;
let directory: TempDirectory;
let uri: string;
let records: WrittenRecords;
let histories: TestHistory[];

beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

beforeEach(async () => {
  histories = [];
  directory = await tempDirectory("history");
  broker = await openRecordBroker();
  records = writtenRecords(broker.ledger);
  uri = await server.newDatabase();
});
afterEach(async () => {
  for (const { process, reads } of histories) {
    await process.kill();
    await reads.close();
  }
  await broker?.[Symbol.asyncDispose]();
  await directory?.remove();
  expect(histories.flatMap(({ process }) => process.mishaps)).toEqual([]);
});

/** A directory of a process, with the address of a database among its secrets. */
async function withSecret(name: string, database: string): Promise<string> {
  const own = join(directory.path, name);
  await mkdir(join(own, "secrets"), { recursive: true });
  await writeFile(join(own, "secrets", "history-database"), `${database}\n`);
  return own;
}

/** A process with a directory of its own, and the database of all. */
async function open(): Promise<TestHistory> {
  const own = await withSecret(String(histories.length), uri);
  const history = await historyProcess({
    directory: own,
    server: broker.server,
    flags: [`--secret-mount-path=${join(own, "secrets")}`, "--log-level=debug"],
  });
  histories.push(history);
  await history.process.start();
  return history;
}

const query = (statement: string) => server.query(`${uri}?options=-csearch_path%3Dweir`, statement);
const leads = async (history: TestHistory) => (await history.metric("history_leader")) === 1;

/** Waits until the history has what the records say, call by call. */
async function untilEqual({ reads }: TestHistory): Promise<void> {
  const kept = await untilRecorded(reads, broker.ledger, records);
  await eventually(async () => (await reads.list({ filter: {}, limit: 1 })).total.value === kept, { what: "no other" });
  for (const [way, count] of Object.entries(await postgresCounts(query))) expect([way, count]).toEqual([way, kept]);
}

/** Ends with all that was written in the history of `reader`, without a gap. */
async function underLoad(reader: TestHistory, faults: () => Promise<void>, rate = 100): Promise<void> {
  const stop = new AbortController();
  const load = records.load(rate, stop.signal);
  try {
    await faults();
  } finally {
    stop.abort();
    await load;
  }
  await untilEqual(reader);
  expect(await eventually(async () => reader.reads.progress(), { what: "its progress" })).toMatchObject({ gaps: [] });
}

test("of two processes on one database one writes, both are read, and the other one takes over", async () => {
  const [one, other] = [await open(), await open()];
  await eventually(async () => (await leads(one)) || (await leads(other)), { what: "a leader" });
  for (let count = 0; count < 10; count += 1) await records.write("done");
  await untilEqual(one);
  await untilEqual(other);
  expect([await leads(one), await leads(other)].filter(Boolean)).toHaveLength(1);
  const [first, second] = (await leads(one)) ? [one, other] : [other, one];
  // Whoever is asked removes it.
  const [id = ""] = records.calls.keys();
  expect(await second.reads.remove(id)).toBe(true);
  expect(await first.reads.get(id)).toBeUndefined();

  const stopped = performance.now();
  await first.process.stop();
  await eventually(() => leads(second), { what: "the other one to lead" });
  // The lease was released: that it expires would take as long as it lasts.
  expect(performance.now() - stopped).toBeLessThan(20_000);
  const later = await records.write("done");
  await eventually(async () => (await second.reads.get(later)) !== undefined, { what: "the next call" });
  expect(await second.reads.get(id)).toBeUndefined();
});

test("killed at any point of a batch, or stopped for longer than its lease while the other one writes: the rows are the records", async () => {
  const [one, other] = [await open(), await open()];
  await underLoad(other, async () => {
    for (let kill = 0; kill < 3; kill += 1) {
      // At another point of its work each time.
      await pause(400 + 110 * kill);
      await one.process.kill();
      await one.process.start();
    }
    for (const history of [one, other]) {
      history.process.pause();
      await pause(3_000);
      history.process.resume();
    }
  });
  await untilEqual(one);
});

test("FH1 PostgreSQL away, and crashed: reads say so, no record is missed, and the process does not grow", async () => {
  const history = await open();
  await eventually(() => leads(history), { what: "the history to be the leader" });
  const before = await history.process.measure();
  await underLoad(history, async () => {
    for (const end of [() => server.stop(), () => server.crash()]) {
      await end();
      await eventually(
        () =>
          history.reads.list({ filter: {}, limit: 1 }).then(
            () => false,
            (err: Error) => err.message.includes("cannot be reached"),
          ),
        { what: "a read to say that it is away" },
      );
      await pause(5_000);
      await server.start();
      await eventually(() => history.reads.list({ filter: {}, limit: 1 }).then(() => true), { what: "a read" });
    }
  });
  const after = await history.process.measure();
  expect(after.memory - before.memory).toBeLessThan(64 * 1_048_576);
  expect(after.descriptors - before.descriptors).toBeLessThan(20);
  const lines = history.process.log.map((line) => JSON.stringify(line)).join("\n");
  expect(lines).toContain("cannot store the history of calls");
  expect(lines).toContain("the history of calls is stored again");
  for (const secret of [server.password, encodeURIComponent(server.password)]) expect(lines).not.toContain(secret);
});

test("FH1 PostgreSQL slow, 5 s a batch: reads are quick, and no record is missed", async () => {
  const history = await open();
  await records.write("done");
  await untilEqual(history);
  await query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(5); RETURN NULL; END';
    CREATE TRIGGER slow AFTER INSERT ON call FOR EACH STATEMENT EXECUTE FUNCTION slow()`);
  await underLoad(
    history,
    async () => {
      for (let look = 0; look < 20; look += 1) {
        const began = performance.now();
        await history.reads.list({ filter: {}, limit: 50 });
        expect(performance.now() - began).toBeLessThan(2_000);
        await pause(500);
      }
      await query("DROP TRIGGER slow ON call");
    },
    300,
  );
});

test("an address that cannot be read, or a later schema, is said at the start, and the password is not", async () => {
  const failure = async (database: string): Promise<string> => {
    const own = await withSecret("failing", database);
    const flags = [`--history-dir=${own}`, `--secret-mount-path=${join(own, "secrets")}`, "--admin-port=0"];
    const child = spawn(process.execPath, ["runtime/history/main.ts", ...flags], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    killAtExit(child);
    const exited = once(child, "exit");
    const lines = await text(child.stderr);
    expect(await exited).toEqual([1, null]);
    return lines;
  };
  const password = encodeURIComponent(server.password);
  const off = await failure(`postgres://weir:${password}@db.example/weir?sslmode=disable`);
  expect(off).toContain("Cannot read the address of the database: its sslmode is disable");
  const history = await open();
  await history.process.stop();
  await query("UPDATE schema_version SET version = 7 WHERE what = 'history'");
  const later = await failure(uri);
  expect(later).toContain("Cannot open history: it is of schema 7, this release knows 1");
  for (const lines of [off, later])
    for (const secret of [server.password, password]) expect(lines).not.toContain(secret);
});
