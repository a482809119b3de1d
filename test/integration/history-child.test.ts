import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { HistoryChild, type HistoryEnd } from "../../runtime/host/parts/history-child.ts";
import { eventually } from "../support/eventually.ts";
import { killAtExit } from "../support/kill-at-exit.ts";
import { isAlive, livingProcess, type KnownProcess } from "../support/process-tree.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const root = new URL("../../", import.meta.url);

let directory: TempDirectory;
let child: HistoryChild | undefined;
let lines: string[];
let ends: HistoryEnd[];

beforeEach(async () => {
  directory = await tempDirectory("history-child");
  lines = [];
  ends = [];
});
afterEach(async () => {
  await child?.close();
  child = undefined;
  await directory.remove();
});

/** A program that does `body`, with `stopWithInput` and its arguments at hand. */
async function program(body: string): Promise<readonly string[]> {
  const file = join(directory.path, "program.ts");
  const from = new URL("runtime/history/stop-with-input.ts", root).href;
  await writeFile(file, `import { stopWithInput } from ${JSON.stringify(from)};\n${body}\n`);
  return [process.execPath, file];
}

function open(command: readonly string[]): HistoryChild {
  child = new HistoryChild({
    command,
    directory: directory.path,
    environment: {},
    onLine: (line) => void lines.push(line),
    onEnd: (end) => void ends.push(end),
  });
  child.start();
  return child;
}

const until = (line: string) => eventually(() => lines.includes(line), { what: `"${line}"` });
const serves = `
stopWithInput(process.stdin, () => process.exit(0));
process.on("SIGTERM", () => { console.error("told"); process.exit(0); });
console.error("up");
`;

test("it ends when it is closed, and is not started again", async () => {
  const opened = open(await program(serves));
  await until("up");
  await opened.close();
  expect([lines, ends, opened.pid]).toEqual([["up", "told"], [], undefined]);
  opened.start();
  expect(opened.pid).toBeUndefined();
});

test("other processes come first, in its session and beside it", async () => {
  const opened = open(await program(serves));
  await until("up");
  const { pid = 0 } = opened;
  expect(getPriority(pid)).toBe(10);
  // Only Linux has them, and not in every container.
  const group = await readFile(`/proc/${pid}/autogroup`, "utf8").catch(() => undefined);
  expect(group ?? "nice 10\n").toMatch(/nice 10\n$/);
});

test("it is killed when it does not end", async () => {
  const opened = open(
    await program(`process.on("SIGTERM", () => {});${serves.replace("process.exit(0); });", "});")}`),
  );
  await until("up");
  const known = processOf(opened.pid);
  await opened.close();
  expect(isAlive(known)).toBe(false);
});

test("it is gone when it was ended at once, and is not started again", async () => {
  const opened = open(await program(serves));
  await until("up");
  const known = processOf(opened.pid);
  await opened.endNow();
  expect([isAlive(known), lines, ends]).toEqual([false, ["up"], []]);
  opened.start();
  expect(opened.pid).toBeUndefined();
});

test("it is started again when it ends, with growing pauses, and tells its last line", async () => {
  open(await program(`console.error("up"); console.error("Cannot go on"); process.exitCode = 3;`));
  await eventually(() => ends.length === 3, { what: "three ends" });
  expect(ends[0]).toEqual({ how: "exit code 3", lastLine: "Cannot go on", wasStable: false, restartIn: 250 });
  expect(ends.map(({ restartIn }) => restartIn)).toEqual([250, 500, 1_000]);
});

test("it is started again when it is killed", async () => {
  const opened = open(await program(serves));
  await until("up");
  const first = opened.pid ?? 0;
  process.kill(first, "SIGKILL");
  await eventually(() => opened.pid !== undefined && opened.pid !== first, { what: "another one" });
  expect(ends).toEqual([{ how: "SIGKILL", lastLine: "up", wasStable: false, restartIn: 250 }]);
});

test("it is started again though a process that it left behind has its log open", async () => {
  const opened = open(
    await program(`
      import { spawn } from "node:child_process";
      const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1_000)"], { stdio: ["ignore", "ignore", "inherit"] });
      console.error("left " + left.pid);
      ${serves}
    `),
  );
  await until("up");
  const pids = () => lines.filter((line) => line.startsWith("left ")).map((line) => Number(line.slice(5)));
  try {
    const first = processOf(pids()[0]);
    process.kill(opened.pid ?? 0, "SIGKILL");
    await eventually(() => ends.length === 1, { what: "its end to be noticed" });
    expect(isAlive(first)).toBe(true);
    await eventually(() => pids().length === 2, { what: "another one" });
  } finally {
    for (const pid of pids()) process.kill(pid, "SIGKILL");
  }
});

test("a program that is not there is tried again, and nothing else happens", async () => {
  open([join(directory.path, "nothing")]);
  await eventually(() => ends.length === 2, { what: "two attempts" });
  expect(ends[0]).toMatchObject({ how: expect.stringContaining("ENOENT"), lastLine: undefined });
});

test.each([
  ["serves", ""],
  ["has not begun to listen", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);"],
])("it ends when the process that started it is killed while it %s", async (_what, before) => {
  const command = await program(`
    import { renameSync, writeFileSync } from "node:fs";
    writeFileSync("pid.new", String(process.pid));
    renameSync("pid.new", "pid");
    ${before}
    ${serves}
  `);
  const parent = join(directory.path, "parent.ts");
  const from = new URL("runtime/host/parts/history-child.ts", root).href;
  await writeFile(
    parent,
    `import { HistoryChild } from ${JSON.stringify(from)};
    new HistoryChild({ command: ${JSON.stringify(command)}, directory: ${JSON.stringify(directory.path)},
      environment: {}, onLine: () => {}, onEnd: () => {} }).start();`,
  );
  const started = spawn(process.execPath, [parent], { stdio: "ignore" });
  killAtExit(started);
  const pid = await eventually(() => readFile(join(directory.path, "pid"), "utf8"), { every: 5, what: "the child" });
  const known = processOf(Number(pid));
  started.kill("SIGKILL");
  await eventually(() => !isAlive(known), { what: "the child to end" });
});

function processOf(pid: number | undefined): KnownProcess {
  const found = pid === undefined ? undefined : livingProcess(pid);
  if (found === undefined) throw new Error(`process ${pid} is not there`);
  return found;
}
