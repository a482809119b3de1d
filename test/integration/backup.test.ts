import { randomBytes } from "node:crypto";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { queueStream } from "../../runtime/adapters/nats/stream-names.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { readBackup } from "../../scripts/backup/backup-directory.ts";
import { openBroker, streamNames } from "../../scripts/backup/broker.ts";
import { openMachineBroker, startMachineBroker } from "../../scripts/backup/machine-broker.ts";
import { makeBackup } from "../../scripts/backup/make-backup.ts";
import { restoreBackup } from "../../scripts/backup/restore-backup.ts";
import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";
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
  await using broker = await doctorOf(platform.server);
  await makeBackup(broker, { to: backup(), say });
});
afterAll(async () => {
  await sink?.close();
  await server?.close();
  await directory?.remove();
});

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
