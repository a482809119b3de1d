import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { runChild } from "../../../../runtime/cli/build/run-child.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import { eventually } from "../../../support/eventually.ts";
import { fakePrograms } from "../../../support/fake-program.ts";
import { livingProcess } from "../../../support/process-tree.ts";

const never = new AbortController().signal;

test("lines of both streams are told as they come, and the last of them kept", async () => {
  await using programs = await fakePrograms({ builder: `seq 30; echo problem >&2; exit 3` });
  const told: string[] = [];
  const environment = { PATH: programs.path };
  const end = await runChild({
    command: "builder",
    args: [],
    environment,
    signal: never,
    onLine: (line) => told.push(line),
  });
  expect(told).toHaveLength(31);
  expect(end).toMatchObject({
    kind: "ended",
    code: 3,
    stdout: Array.from({ length: 30 }, (_, at) => at + 1).join("\n"),
  });
  expect(end.kind === "ended" && end.lastLines.length).toBe(20);
});

test("arguments arrive as they are", async () => {
  await using programs = await fakePrograms({ builder: `printf '[%s]' "$@"` });
  const args = ["a b", "$HOME", "*", "'"];
  const end = await runChild({ command: "builder", args, environment: { PATH: programs.path }, signal: never });
  expect(end).toMatchObject({ stdout: "[a b][$HOME][*][']" });
});

test("a program that is not there", async () => {
  const end = await runChild({ command: "no-such-builder", args: [], environment: { PATH: "/bin" }, signal: never });
  expect(end).toEqual({ kind: "not-started", reason: "not installed" });
});

test.each([
  ["that end", ""],
  ["that do not want to", "trap '' TERM INT"],
])("Ctrl-C ends the program and those that it started, %s", async (_name, trap) => {
  await using programs = await fakePrograms({
    builder: `${trap}\nsleep 600 & echo $! > $STATE/child.new; echo $$ > $STATE/parent; mv $STATE/child.new $STATE/child; wait; while :; do sleep 600; done`,
  });
  const abort = new AbortController();
  const running = runChild({
    command: "builder",
    args: [],
    environment: { PATH: programs.path },
    signal: abort.signal,
  });
  const pid = async (name: string): Promise<number> => Number(await readFile(join(programs.state, name), "utf8"));
  const child = await eventually(async () => (await pid("child")) || undefined, { what: "the child's child" });
  const parent = await pid("parent");
  abort.abort();
  await expect(running).rejects.toMatchObject({ exit: exitCode.interrupted });
  for (const each of [parent, child])
    await eventually(() => livingProcess(each) === undefined, {
      what: `the end of process ${each}`,
    });
});

test("nothing is started after Ctrl-C", async () => {
  await using programs = await fakePrograms({ builder: `touch $STATE/ran` });
  const environment = { PATH: programs.path };
  await expect(
    runChild({ command: "builder", args: [], environment, signal: AbortSignal.abort() }),
  ).rejects.toMatchObject({
    exit: exitCode.interrupted,
  });
  await expect(readFile(join(programs.state, "ran"))).rejects.toThrow("ENOENT");
});
