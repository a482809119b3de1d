import { randomBytes } from "node:crypto";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsKeptRequests } from "../../runtime/adapters/nats/records/nats-kept-requests.ts";
import { queueStream } from "../../runtime/adapters/nats/stream-names.ts";
import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { openSqliteStores } from "../../runtime/adapters/sqlite/open-sqlite-stores.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { holdLock } from "../../runtime/process/hold-lock.ts";
import { readBackup } from "../../scripts/backup/backup-directory.ts";
import { openBroker, streamNames } from "../../scripts/backup/broker.ts";
import { openMachineBroker, startMachineBroker } from "../../scripts/backup/machine-broker.ts";
import { makeBackup } from "../../scripts/backup/make-backup.ts";
import { restoreBackup } from "../../scripts/backup/restore-backup.ts";
import { sampleCall } from "../contract/samples.ts";
import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { historyChange, historySyncCall } from "../support/history-calls.ts";
import { historyTables } from "../support/history-tables.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";
import { overwritePages } from "../support/overwrite-pages.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { queueDesk } from "../support/queue-desk.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

/** Calls by their state when the backup was made. */
interface Filled {
  readonly done: string;
  readonly failed: string;
  readonly cancelled: string;
  readonly waiting: string;
  readonly running: string;
  readonly queued: readonly string[];
}

const say = (): void => {};
const doctorOf = (server: TestNatsServer) => openBroker(server.access(natsUser.doctor));
const profile = { retryAttempts: 1, ackWait: 2_000, retryMaxWait: 5_000 };
const mebibyte = 1_048_576;
const large = randomBytes(500_000).toString("hex");

let directory: TempDirectory;
let sink: CallbackSink;
let server: FunctionServer;
let behaviour: "answers" | "fails" | "waits" | "hangs" = "answers";
let filled: Filled;
const kept = sampleCall();
const place = (name: string): string => join(directory.path, name);
const runsOf = (id: string) => server.requests.filter(({ headers }) => headers["x-call-id"] === id);
const backup = (): string => place("whole");

beforeAll(async () => {
  directory = await tempDirectory("backup");
  sink = await openCallbackSink();
  server = await openFunctionServer((_request, response, body) => {
    if (behaviour === "hangs") return;
    const status = { answers: 200, fails: 500, waits: 503 }[behaviour];
    response.writeHead(status, { "Retry-After": "4" }).end(`ran ${body.slice(0, 20)}`);
  });
  await using platform = await openPlatform({ ...profile, server: { encrypted: true } });
  await platform.deploy("echo", { addresses: [server.address] });
  filled = await fill(platform);
  const worker = await keptRequestsOf(platform.server, natsUser.worker("default"));
  expect(await worker.requests.put({ call: kept, redacted: ["cookie"] }, 3_600_000)).toBe(true);
  await worker.close();
  await using broker = await doctorOf(platform.server);
  await makeBackup(broker, { to: backup(), say });
});
afterAll(async () => {
  await sink?.close();
  await server?.close();
  await directory?.remove();
});

async function keptRequestsOf(of: TestNatsServer, user: string) {
  const link = await NatsLink.open({ name: user, pingInterval: 1_000, ...of.access(user) });
  return { requests: new NatsKeptRequests(link), close: () => link.close() };
}

async function fill({ calls, broker }: Platform): Promise<Filled> {
  const done = await calls.accepted("echo", { body: "done" });
  await calls.ended(done);
  behaviour = "fails";
  const failed = await calls.accepted("echo", { body: "failed", callbackUrl: sink.url });
  await calls.ended(failed);
  await eventually(() => broker.deadLetter(failed), { what: "the dead letter" });
  await sink.waitFor(failed);
  behaviour = "waits";
  const waiting = await calls.accepted("echo", { body: "waiting", callbackUrl: sink.url });
  await calls.until(waiting, ["waiting"]);
  behaviour = "hangs";
  const running = await calls.accepted("echo", { body: "running", callbackUrl: sink.url });
  await calls.until(running, ["running"]);
  const cancelled = await calls.accepted("echo", { body: "cancelled" });
  await calls.cancel(cancelled, "echo");
  const queued: string[] = [];
  for (const body of [large, ...Array.from({ length: 20 }, (_, index) => `queued ${index}`)])
    queued.push(await calls.accepted("echo", { body, callbackUrl: sink.url }));
  return { done, failed, cancelled, waiting, running, queued };
}

describe("a backup of an encrypted broker in use, restored to an empty one with half the space", () => {
  test("continues: queued calls run once, ended calls are known", async () => {
    behaviour = "answers";
    server.requests.length = 0;
    const output: string[] = [];
    const maxFileStore = 512 * mebibyte;
    await using platform = await openPlatform({
      ...profile,
      maxFileStore,
      server: { maxFileStore },
      before: async (empty) => {
        await using broker = await doctorOf(empty);
        await restoreBackup(broker, { from: backup(), replace: false, say: (line) => output.push(line) });
      },
    });
    expect(output.join("\n")).toContain("as this broker has less");
    const { calls, broker } = platform;
    const open = [filled.running, filled.waiting, ...filled.queued];
    for (const id of open) expect(await calls.ended(id, 15_000)).toMatchObject({ state: "done" });
    for (const id of open) await sink.waitFor(id);
    for (const id of filled.queued) {
      expect(runsOf(id)).toHaveLength(1);
      expect(sink.of(id)).toHaveLength(1);
      expect(runsOf(id)[0]?.rawHeaders).toContain(id);
    }
    expect(runsOf(filled.queued[0] ?? "")[0]?.body).toBe(large);
    expect(runsOf(filled.running)).toHaveLength(1);

    expect(await calls.status(filled.done)).toMatchObject({ state: "done", result: { status: 200 } });
    expect((await calls.result(filled.done)).body.toString()).toBe("ran done");
    expect(await calls.status(filled.failed)).toMatchObject({ state: "failed", reason: "exhausted" });
    expect(await calls.status(filled.cancelled)).toMatchObject({ state: "cancelled" });
    for (const id of [filled.done, filled.failed, filled.cancelled]) expect(runsOf(id)).toHaveLength(0);
    expect(sink.of(filled.failed)).toHaveLength(1);
    await eventually(async () => (await broker.calls()).messages === 0, { what: "an empty queue" });

    const desk = queueDesk(platform);
    expect((await desk.letters()).items.map(({ callId }) => callId)).toEqual([filled.failed]);
    expect((await desk.redrive(filled.failed)).status).toBe(202);
    expect(await calls.ended(filled.failed)).toMatchObject({ state: "done" });
    await using again = await doctorOf(platform.server);
    const replacing = restoreBackup(again, { from: backup(), replace: true, say });
    await expect(replacing).rejects.toThrow("it is in use; stop gateways");
    const fresh = await calls.accepted("echo", { body: "fresh" });
    expect(await calls.ended(fresh)).toMatchObject({ state: "done" });
    const gateway = await keptRequestsOf(platform.server, natsUser.gateway);
    const found = await gateway.requests.find(kept.function, kept.id);
    expect([found?.call.path, found?.redacted]).toEqual([kept.path, ["cookie"]]);
    await gateway.close();
  });
});

describe("a restore changes nothing", () => {
  test("from an incomplete or changed backup", async () => {
    await using broker = await openEmpty();
    const restore = (from: string) => restoreBackup(broker, { from, replace: true, say });
    const copy = place("damaged");
    await makeCopy(copy);
    const file = join(copy, "DLQ.snapshot");
    const bytes = await readFile(file);
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
    await writeFile(file, bytes);
    await expect(restore(copy)).rejects.toThrow('file "DLQ.snapshot" is not what was written');
    await rm(file);
    await expect(restore(copy)).rejects.toThrow('file "DLQ.snapshot" is missing');
    await writeFile(join(copy, "backup.json"), "{}");
    await expect(restore(copy)).rejects.toThrow("its backup.json is damaged");
    await rm(join(copy, "backup.json"));
    await expect(restore(copy)).rejects.toThrow("not a complete backup");
    expect(await streamNames(broker)).toEqual([]);
  });

  test("on an older server, which could not read it", async () => {
    await using broker = await openEmpty();
    const copy = place("newer");
    await makeCopy(copy);
    const index = JSON.parse(await readFile(join(copy, "backup.json"), "utf8"));
    await writeFile(join(copy, "backup.json"), JSON.stringify({ ...index, natsServer: "9.0.0" }));
    await expect(restoreBackup(broker, { from: copy, replace: true, say })).rejects.toThrow("which is older");
  });

  test("where streams exist, unless told to replace them", async () => {
    await using broker = await openEmpty();
    const restore = (replace: boolean, only?: readonly string[]) =>
      restoreBackup(broker, { from: backup(), replace, only, say });
    await expect(restore(false, ["Q_other"])).rejects.toThrow('Cannot take only "Q_other"');
    await restore(false);
    await expect(restore(false)).rejects.toThrow("use --replace");
    const stream = queueStream("default");
    const { messages } = (await broker.jsm.streams.info(stream)).state;
    expect(messages).toBe(filled.queued.length + 3);
    await broker.jsm.streams.deleteMessage(stream, 4);
    await restore(true);
    expect((await broker.jsm.streams.info(stream)).state.messages).toBe(messages);
  });
});

test("an aborted backup leaves nothing, and no backup replaces another", async () => {
  await using broker = await openEmpty();
  await restoreBackup(broker, { from: backup(), replace: false, say });
  const before = await readdir(directory.path);
  await expect(makeBackup(broker, { to: backup(), say })).rejects.toThrow("something exists there");
  const cut = makeBackup(broker, { to: place("cut"), say: () => void broker.nc.close() });
  await expect(cut).rejects.toThrow();
  expect(await readdir(directory.path)).toEqual(before);
});

test("one machine: the broker of a data directory is started for the backup, with its data", async () => {
  const data = place("data");
  {
    await using machine = await startMachineBroker(data, say);
    await using broker = await openBroker(machine.access);
    await restoreBackup(broker, { from: backup(), replace: false, only: ["KV_calls", "DLQ"], say });
    // While another process holds the directory its broker is used.
    await using running = await openMachineBroker(data, say);
    await using second = await openBroker(running.access);
    expect((await streamNames(second)).toSorted()).toEqual(["DLQ", "KV_calls"]);
    await expect(startMachineBroker(data, say)).rejects.toThrow("another Weir");
  }
  await using machine = await openMachineBroker(data, say);
  await using broker = await openBroker(machine.access);
  await makeBackup(broker, { to: place("again"), say });
  const entries = async (from: string) =>
    (await readBackup(from)).streams
      .filter(({ name }) => ["KV_calls", "DLQ"].includes(name))
      .map(({ name, state }) => [name, state.messages]);
  expect(await entries(place("again"))).toEqual(await entries(backup()));
  await expect(openMachineBroker(place("nowhere"), say)).rejects.toThrow("no Weir has run there");
});

describe("the history of one machine", () => {
  /** A history that is written, with calls and lines. */
  async function openWritten(data: string) {
    const stores = await openSqliteStores(join(data, "history"), { keptLogs: true, onDamaged: () => {} });
    await stores.writer.apply({
      changes: [historyChange(1), historyChange(2), { kind: "sync", call: historySyncCall(3) }],
      rollups: [],
      position: { created: "2027-01-15T08:00:00Z", sequence: 3, at: 5, base: 0 },
    });
    await stores.writer.remove(historySyncCall(3).id);
    const line = { namespace: "functions", name: "echo", instance: "echo-1", number: 1, text: "hello" };
    await stores.logs?.writer.append([{ ...line, timestamp: "2027-01-15T08:00:00.000000001Z" }]);
    return stores;
  }
  const places = () => ({ from: place("with-history"), data: place("machine"), other: place("other") });

  test("is backed up while it is written, restored with the streams, and named by both", async () => {
    const { from, data, other } = places();
    const [own, elsewhere] = [join(data, "history"), join(other, "history")];
    await using broker = await openEmpty();
    await restoreBackup(broker, { from: backup(), replace: false, say });
    const stores = await openWritten(data);
    const output: string[] = [];
    const options = { say: (line: string) => void output.push(line) };
    await makeBackup(broker, { to: from, historyDirectory: own, ...options });
    await stores.writer.apply({ changes: [historyChange(9)], rollups: [] });
    await stores.close();
    expect(output.at(-1)).toMatch(/^Backup of \d+ streams and the history in /);
    const { history = [] } = await readBackup(from);
    expect(history.map(({ file }) => file)).toEqual(["calls.db", "logs.db"]);

    await restoreBackup(broker, { from, replace: true, historyDirectory: elsewhere, ...options });
    expect(output.at(-1)).toMatch(/^Restored \d+ streams and the history as of .*; the platform can start$/);
    const restored = await openSqliteStores(elsewhere, { keptLogs: true, onDamaged: () => {} });
    expect(restored.rebuild).toBeUndefined();
    expect(await restored.writer.position()).toMatchObject({ sequence: 3 });
    const { lines } = (await restored.logs?.reads.lines({ namespace: "functions", name: "echo", limit: 10 })) ?? {};
    expect(lines?.map(({ text }) => text)).toEqual(["hello\n"]);
    // What was written since is not in it; a call that was removed for good stays so.
    const tables = historyTables(join(elsewhere, "calls.db"));
    expect([tables["calls"]?.length, tables["tombstones"]?.length]).toEqual([2, 1]);
    await restored.close();
  });

  test("is replaced only if that is said, and not while a process has it", async () => {
    const { from, data } = places();
    const own = join(data, "history");
    await using broker = await openEmpty();
    const restore = (replace: boolean) =>
      restoreBackup(broker, { from, replace, only: ["history"], historyDirectory: own, say });
    await expect(restore(false)).rejects.toThrow("there is a history in");
    const lock = await holdLock(join(own, "lock"));
    await expect(restore(true)).rejects.toThrow(`process ${process.pid} has it; stop Weir first`);
    if ("release" in lock) await lock.release();
    await restore(true);
    const writer = await SqliteCallHistoryWriter.open({ file: join(own, "calls.db") });
    expect(await writer.size()).toMatchObject({ calls: 2 });
    await writer.close();
  });

  test("that a backup does not have, or that belongs to no machine, is named by the restore", async () => {
    const { from } = places();
    await using broker = await openEmpty();
    const output: string[] = [];
    const restore = (of: string) =>
      restoreBackup(broker, { from: of, replace: true, say: (line) => void output.push(line) });
    await restore(backup());
    expect(output.at(-1)).toContain(
      "the history of calls is not in this backup, and is filled from the records that are",
    );
    await restore(from);
    expect(output.at(-1)).toContain("its history was left out, as it is that of one machine (--data)");
  });

  test("that cannot be read as a whole is not backed up, and leaves no backup", async () => {
    const { data } = places();
    const own = join(data, "history");
    await using broker = await openEmpty();
    await restoreBackup(broker, { from: backup(), replace: false, say });
    await overwritePages(join(own, "calls.db"), 0.2, 0.9);
    const to = place("of-damaged");
    await expect(makeBackup(broker, { to, historyDirectory: own, say })).rejects.toThrow("with --only the streams");
    expect(await readdir(place("."))).not.toContain("of-damaged");
  });
});

async function openEmpty() {
  const empty = await openNatsServer({ users: true, encrypted: true });
  const broker = await doctorOf(empty);
  const close = async (): Promise<void> => {
    await broker[Symbol.asyncDispose]();
    await empty.close();
  };
  return { ...broker, [Symbol.asyncDispose]: close };
}

async function makeCopy(to: string): Promise<void> {
  await cp(backup(), to, { recursive: true });
}
