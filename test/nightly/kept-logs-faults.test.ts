import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { HttpKeptLogs } from "../../runtime/adapters/http/history/http-kept-logs.ts";
import { readKeptLines } from "../../runtime/core/history/logs/read-kept-lines.ts";
import { eventually } from "../support/eventually.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { mostResidentBytes } from "../support/process-facts.ts";
import { say } from "../support/say.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let directory: TempDirectory;
let weir: WeirProcess;
let kept: HttpKeptLogs;

beforeEach(async () => {
  directory = await tempDirectory("kept-logs");
  kept = new HttpKeptLogs({ address: join(directory.path, "history", "api.sock"), timeout: 10_000 });
  weir = await startWeir({ data: directory.path });
});
afterEach(async () => {
  await kept.close();
  await weir.close();
  await directory.remove();
});

async function deploy(service: string, envProcess: string): Promise<void> {
  const { url, authorization } = weir;
  const body = JSON.stringify({ service, image: "none", envProcess });
  const { status } = await platformCalls(url).send("PUT", "/system/functions", { headers: { authorization }, body });
  expect(status).toBe(202);
}

async function linesOf(name: string): Promise<string[]> {
  const lines = await Array.fromAsync(readKeptLines(kept, { namespace: "functions", name })).catch(() => []);
  return lines.map(({ text }) => text.trimEnd());
}

const historyProcess = () => weir.below().find(({ command }) => command.includes("history/main.ts"));

test("a history process that is killed while lines are written has each of them once", async () => {
  const count = 600;
  await deploy("counts", `sh -c 'i=0; while [ $i -lt ${count} ]; do echo "line $i" >&2; i=$((i+1)); sleep 0.02; done'`);
  const calls = platformCalls(weir.url);
  const id = await calls.accepted("counts");
  for (let kills = 0; kills < 4; kills += 1) {
    const before = (await linesOf("counts")).length;
    await eventually(async () => (await linesOf("counts")).length > before, { what: "more lines" });
    const running = historyProcess();
    if (running !== undefined) process.kill(running.pid, "SIGKILL");
  }
  await calls.ended(id);
  await eventually(async () => (await linesOf("counts")).length >= count, { what: "all lines", within: 60_000 });
  expect(await linesOf("counts")).toEqual(Array.from({ length: count }, (_, number) => `line ${number}`));
}, 180_000);

/** Bytes that the history may take at most, and the host more than before, while a line is a thousand times as long. */
const most = { history: 250_000_000, more: 150_000_000 };

test("FH8 1 GB of one line, binary and without a newline, then far too many lines: bounds hold, and others' lines are kept", async () => {
  await deploy("floods", `sh -c 'head -c 1004000000 /dev/urandom | tr -d "\\\\n" >&2; echo >&2; seq 100000 >&2'`);
  await deploy("talks", "sh -c 'echo called >&2'");
  const calls = platformCalls(weir.url);
  const before = mostResidentBytes(weir.pid);
  const flood = await calls.accepted("floods");
  for (let number = 0; number < 10; number += 1) expect((await calls.send("POST", "/function/talks")).status).toBe(200);
  await eventually(async () => (await linesOf("talks")).length >= 10, { what: "the lines of the other" });
  expect(await linesOf("talks")).toEqual(Array.from({ length: 10 }, () => "called"));
  await calls.ended(flood, 240_000);
  await eventually(async () => (await linesOf("floods")).some((text) => text.endsWith("were not kept")), {
    what: "the line that stands for others",
    within: 60_000,
  });
  const lines = await linesOf("floods");
  expect(Math.max(...lines.map((text) => Buffer.byteLength(text)))).toBeLessThan(17_000);
  expect(lines[0]).toMatch(/ \[cut: \d+ bytes were not kept\]$/);
  const [history, host] = [mostResidentBytes(historyProcess()?.pid ?? 0), mostResidentBytes(weir.pid)];
  say(`FH8: at most ${inMegabytes(history)} MB in the history, ${inMegabytes(host - before)} more in the host`);
  expect(history).toBeLessThan(most.history);
  expect(host - before).toBeLessThan(most.more);
  const { url, authorization } = weir;
  expect((await platformCalls(url).send("GET", "/system/functions", { headers: { authorization } })).status).toBe(200);
}, 600_000);

function inMegabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000);
}
