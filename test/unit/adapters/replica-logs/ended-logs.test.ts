import { appendFile, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";

import { LocalLogSource } from "../../../../runtime/adapters/machine/local/logs/local-log-source.ts";
import { logDirectory, logFileSize } from "../../../../runtime/adapters/machine/local/logs/log-files.ts";
import { ReplicaLog } from "../../../../runtime/adapters/machine/local/logs/replica-log.ts";
import { endOfLines } from "../../../../runtime/adapters/replica-logs/end-of-lines.ts";
import { formatLoggedLine } from "../../../../runtime/adapters/replica-logs/logged-line.ts";
import { EndedLogs, endedLogSize, textsIn } from "../../../../runtime/adapters/replica-logs/ended-logs.ts";
import type { LogQuery } from "../../../../runtime/core/ports/log-source.ts";
import { eventually } from "../../../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

const hello = { namespace: "functions", name: "hello" };
const other = { namespace: "functions", name: "other" };
const query: LogQuery = { ...hello, instance: undefined, tail: undefined, since: undefined, follow: false };
const line = (second: number, text: string): string => `2026-01-31T12:00:${String(second).padStart(2, "0")}Z ${text}\n`;

let directory: TempDirectory;
let ended: EndedLogs;
beforeEach(async () => {
  directory = await tempDirectory("ended-logs");
  ended = new EndedLogs(directory.path);
});
afterEach(() => directory.remove());

async function texts(over: Partial<LogQuery> = {}): Promise<string[]> {
  const source = new LocalLogSource(directory.path);
  const found: string[] = [];
  for await (const { text } of source.read({ ...query, ...over }, new AbortController().signal)) found.push(text);
  return found;
}

async function running(id: string, text: string): Promise<string> {
  const path = join(logDirectory(directory.path, hello), id);
  await mkdir(logDirectory(directory.path, hello), { recursive: true });
  await appendFile(path, text);
  return path;
}

test("lines of ended replicas come before those of their successors", async () => {
  await running("hello-a", line(9, "running"));
  await ended.keep(hello, "hello-c", line(1, "first") + line(2, "second"), 1_000);
  await ended.keep(hello, "hello-b", line(3, "third"), 2_000);
  await ended.keep(other, "other-a", line(3, "another function's"), 2_000);

  expect(await texts()).toEqual(["first\n", "second\n", "third\n", "running\n"]);
  expect(await texts({ tail: 1 })).toEqual(["second\n", "third\n", "running\n"]);
  expect(await texts({ instance: "hello-c" })).toEqual(["first\n", "second\n"]);
  expect(await texts({ since: Date.parse("2026-01-31T12:00:02Z") })).toEqual(["second\n", "third\n", "running\n"]);
});

test("lines of ended replicas and of one that runs come in the order of time, and a follower begins after them", async () => {
  await running("hello-new", line(2, "new 2") + line(6, "new 6"));
  await ended.keep(hello, "hello-old", line(1, "old 1") + line(4, "old 4"), 1_000);
  await ended.keep(hello, "hello-other", line(3, "other 3") + line(5, "other 5"), 2_000);
  const inOrder = ["old 1\n", "new 2\n", "other 3\n", "old 4\n", "other 5\n", "new 6\n"];
  expect(await texts()).toEqual(inOrder);

  const leaving = new AbortController();
  const followed: string[] = [];
  for await (const { text } of new LocalLogSource(directory.path).read({ ...query, follow: true }, leaving.signal)) {
    if (followed.push(text) === inOrder.length) break;
  }
  expect(followed).toEqual(inOrder);
});

test("a line of an ended replica has its output; one that an earlier release wrote has none", async () => {
  const time = "2026-01-31T12:00:00.000000000Z";
  const written = [
    { timestamp: time, text: "out", stream: "stdout" },
    { timestamp: time, text: "2 errors", stream: "stderr" },
    { timestamp: time, text: "earlier" },
  ] as const;
  await ended.keep(hello, "hello-a", written.map(formatLoggedLine).join(""));
  const records = await Array.fromAsync(
    new LocalLogSource(directory.path).read(query, new AbortController().signal),
    ({ timestamp, text, stream }) => [timestamp, text, stream],
  );
  expect(records).toEqual([
    [time, "out\n", "stdout"],
    [time, "2 errors\n", "stderr"],
    [time, "earlier\n", undefined],
  ]);
});

test("five replicas are kept; one that wrote nothing does not count", async () => {
  for (let number = 1; number <= 7; number += 1) {
    await ended.keep(hello, `hello-${number}`, line(number, String(number)), number);
    await ended.keep(hello, `silent-${number}`, "", number);
  }

  expect(await texts()).toEqual(["3\n", "4\n", "5\n", "6\n", "7\n"]);
});

test("a removed function leaves no logs, and the logs of others stay", async () => {
  await ended.keep(hello, "hello-a", line(1, "one"));
  await ended.keep(other, "other-a", line(1, "one"));
  await ended.forget(hello);
  expect(await readdir(join(directory.path, "functions"))).toEqual(["other"]);
  await ended.forget(other);

  expect(await readdir(directory.path)).toEqual([]);
});

test("a follower gives each line once when a replica ends, also of a replica that it never saw run", async () => {
  await ended.keep(hello, "hello-old", line(1, "old"));
  const path = await running("hello-a", line(2, "before"));
  const leaving = new AbortController();
  const followed: string[] = [];
  const following = (async () => {
    const records = new LocalLogSource(directory.path).read({ ...query, follow: true }, leaving.signal);
    for await (const { text } of records) followed.push(text);
  })();
  await eventually(() => followed.length === 2, { what: "what was there" });
  await appendFile(path, line(3, "after"));
  await ended.keep(hello, "hello-a", line(2, "before") + line(3, "after"));
  await rm(path);
  await ended.keep(hello, "hello-brief", line(4, "brief"));
  await eventually(() => followed.includes("brief\n") && followed.includes("after\n"), { what: "what came" });
  leaving.abort();
  await following;

  expect(followed.slice(0, 2)).toEqual(["old\n", "before\n"]);
  expect(followed.slice(2).sort()).toEqual(["after\n", "brief\n"]);
});

test("the end of a log is whole lines, at most 64 KiB, from both files", async () => {
  const log = await ReplicaLog.open(join(directory.path, "log"));
  const source = new PassThrough();
  log.take(source, "stderr");
  const text = "z".repeat(1_000);
  // The second file has only a few lines.
  const count = Math.ceil(logFileSize / 1_030) + 10;
  for (let number = 0; number < count; number += 1) {
    if (!source.write(`${number} ${text}\n`)) await new Promise((resolve) => source.once("drain", resolve));
  }
  source.end();
  await log.close();
  const end = await log.end(endedLogSize);
  const numbers = end
    .trim()
    .split("\n")
    .map((each) => Number(each.split(" ")[1]));

  const written = end.replaceAll(/^\S+ /gm, "");
  expect(Buffer.byteLength(written)).toBeLessThanOrEqual(endedLogSize);
  expect(Buffer.byteLength(written)).toBeGreaterThan(endedLogSize - 2_000);
  expect(numbers).toEqual(numbers.map((_, index) => count - numbers.length + index));
  expect(await log.end(10)).toBe("");
});

test.each([1, 16, 1_024])("64 KiB of lines of %d bytes are kept whole, not counting their times", async (size) => {
  const log = await ReplicaLog.open(join(directory.path, "log"));
  const source = new PassThrough();
  log.take(source, "stderr");
  const text = `${"z".repeat(size - 1)}\n`.repeat(endedLogSize / size);
  source.write("more\n");
  source.end(text);
  await log.close();

  const end = await log.end(endedLogSize);
  expect(end.replaceAll(/^\S+ /gm, "")).toBe(text);
  const timestamp = "2026-01-31T12:00:00.000000000Z";
  const lines = ["more", ...textsIn(end).slice(0, -1)].map((written) => ({ timestamp, text: written }));
  const kept = await endOfLines(inTurn(lines));
  expect(kept.map((last) => `${last.text}\n`).join("")).toBe(text);
});

async function* inTurn<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
