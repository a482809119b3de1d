import { existsSync } from "node:fs";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { HttpCallHistory } from "../../runtime/adapters/http/history/http-call-history.ts";
import { eventually } from "../support/eventually.ts";
import { isHistory } from "../support/history-host.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { isAlive, type KnownProcess } from "../support/process-tree.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let directory: TempDirectory;
let weir: WeirProcess | undefined;
let history: HttpCallHistory;

beforeEach(async () => {
  directory = await tempDirectory("history");
  history = new HttpCallHistory({ address: place("history", "api.sock"), timeout: 10_000 });
});
afterEach(async () => {
  await history.close();
  await weir?.close();
  weir = undefined;
  await directory.remove();
});

const place = (...names: readonly string[]): string => join(directory.path, ...names);

async function start(...flags: readonly string[]): Promise<WeirProcess> {
  weir = await startWeir({ data: directory.path, flags });
  return weir;
}

/** The history process, once it serves. */
async function served(running: WeirProcess, except?: KnownProcess): Promise<KnownProcess> {
  const found = await eventually(() => running.below().find((each) => isHistory(each) && each.pid !== except?.pid), {
    what: "the history process",
  });
  await eventually(() => history.progress(), { what: "the history to serve" });
  return found;
}

async function queuedCall({ url, authorization }: WeirProcess): Promise<string> {
  const calls = platformCalls(url);
  const body = JSON.stringify({ service: "cat", image: "none", envProcess: "cat" });
  const { status } = await calls.send("PUT", "/system/functions", { headers: { authorization }, body });
  expect(status).toBe(202);
  const id = await calls.accepted("cat");
  await calls.ended(id);
  return id;
}

const state = async (id: string): Promise<string | undefined> => (await history.get(id))?.row.state;

test("one machine keeps the history of its calls, also over a restart", async () => {
  const first = await start();
  await served(first);
  const id = await queuedCall(first);
  await eventually(async () => (await state(id)) === "done", { what: "the call in the history" });
  const modes = await Promise.all(
    [place("history"), place("history", "api.sock"), place("history", "nats-password")].map(async (path) =>
      ((await stat(path)).mode & 0o777).toString(8),
    ),
  );
  expect(modes).toEqual(["700", "600", "600"]);
  await first.stop();
  expect(existsSync(place("history", "api.sock"))).toBe(false);

  await served(await start());
  expect(await state(id)).toBe("done");
  expect(await history.progress()).toMatchObject({ complete: true, gaps: [] });
});

test("a history process that is killed is started again, and calls go on meanwhile", async () => {
  const running = await start();
  const killed = await served(running);
  process.kill(killed.pid, "SIGKILL");
  const id = await queuedCall(running);
  await served(running, killed);
  await eventually(async () => (await state(id)) === "done", { what: "the call in the history" });
  expect(running.output()).toContain("the history of calls does not run");
});

test("a host that is killed leaves no history process", async () => {
  const running = await start();
  const known = await served(running);
  await history.list({ filter: {}, limit: 1 });
  const reader = running.below().filter(({ parent }) => parent === known.pid);
  expect(reader).toHaveLength(1);
  await running.kill();
  await eventually(() => [known, ...reader].every((each) => !isAlive(each)), { what: "both to end" });
});

test("where the history cannot start, everything else runs, and one line says why", async () => {
  await mkdir(place("history"), { recursive: true });
  // A directory in the place of its file.
  await mkdir(place("history", "calls.db"));
  const running = await start("--log-format", "json");
  const lines = () =>
    running
      .output()
      .split("\n")
      .filter((line) => line.includes("the history of calls does not run"));
  await eventually(() => lines().length > 0, { what: "the line" });
  expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ level: 40, reason: expect.stringMatching(/calls\.db|EISDIR/) });
  await queuedCall(running);
  expect(lines()).toHaveLength(1);
  await running.stop();
});

test("its directory that cannot be made is no reason not to start", async () => {
  await writeFile(place("history"), "");
  const running = await start();
  await queuedCall(running);
  expect(running.output()).toContain("the history of calls does not run");
});

test("a machine without history starts none", async () => {
  const running = await start("--history", "false");
  await queuedCall(running);
  expect(running.below().filter(isHistory)).toEqual([]);
  expect(existsSync(place("history"))).toBe(false);
});
