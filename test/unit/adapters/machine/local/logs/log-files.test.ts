import { appendFile, mkdir, readdir, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { LocalLogSource } from "../../../../../../runtime/adapters/machine/local/logs/local-log-source.ts";
import {
  logDirectory,
  logFileSize,
  olderLog,
} from "../../../../../../runtime/adapters/machine/local/logs/log-files.ts";
import { LogLines } from "../../../../../../runtime/adapters/machine/local/logs/log-lines.ts";
import { LogClock } from "../../../../../../runtime/adapters/machine/local/logs/log-time.ts";
import { ReplicaLog } from "../../../../../../runtime/adapters/machine/local/logs/replica-log.ts";
import { logSourceContract } from "../../../../../contract/log-source.contract.ts";
import { eventually } from "../../../../../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../../../../../support/temp-directory.ts";

const hello = { namespace: "functions", name: "hello" };

describe("LogLines", () => {
  async function linesOf(...chunks: (string | Buffer)[]): Promise<string[]> {
    const lines = new LogLines();
    for (const chunk of chunks) lines.write(chunk);
    lines.end();
    const all: string[] = [];
    for await (const batch of lines) all.push(...batch);
    return all;
  }

  test("joins lines that are cut anywhere, and keeps empty lines and carriage returns", async () => {
    const bytes = Buffer.from("äb\n\n10%\r20%\r\nlast");
    const expected = ["äb", "", "10%\r20%\r", "last"];

    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await linesOf(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(expected);
    }
  });

  test("cuts lines over 64 KiB and marks them", async () => {
    const [short, long, next] = await linesOf(
      "x".repeat(65_536),
      "\n",
      "y".repeat(40_000),
      "y".repeat(40_000),
      "\nnext\n",
    );

    expect(short).toBe("x".repeat(65_536));
    expect(long).toBe(`${"y".repeat(65_536)} [cut]`);
    expect(next).toBe("next");
  });
});

test("LogClock gives ever later RFC 3339 times with nanoseconds", () => {
  const times = [1_700_000_000_001, 1_700_000_000_001, 1_700_000_000_000, 1_700_000_000_002];
  const clock = new LogClock(() => times.shift() ?? 0);

  expect(Array.from({ length: 4 }, () => clock.next())).toEqual([
    "2023-11-14T22:13:20.001000000Z",
    "2023-11-14T22:13:20.001000001Z",
    "2023-11-14T22:13:20.001000002Z",
    "2023-11-14T22:13:20.002000000Z",
  ]);
});

describe("with files", () => {
  let directory: TempDirectory;
  beforeEach(async () => {
    directory = await tempDirectory("logs");
  });
  afterEach(() => directory.remove());

  const query = { ...hello, instance: undefined, tail: undefined, since: undefined, follow: false };

  test("a reader that comes between two files finds the older one, and a follower repeats nothing", async () => {
    const path = join(logDirectory(directory.path, hello), "hello-a");
    await mkdir(logDirectory(directory.path, hello), { recursive: true });
    await appendFile(path, "2026-01-01T00:00:00.000000001Z first\n");
    const source = new LocalLogSource(directory.path);
    const leaving = new AbortController();
    const followed: string[] = [];
    const following = (async () => {
      for await (const { text } of source.read({ ...query, follow: true }, leaving.signal)) followed.push(text);
    })();
    await eventually(() => followed.length > 0, { what: "the first line" });

    await rename(path, olderLog(path));
    const found: string[] = [];
    for await (const { text } of source.read({ ...query, tail: 2 }, leaving.signal)) found.push(text);
    expect(found).toEqual(["first\n"]);
    await appendFile(path, "2026-01-01T00:00:00.000000002Z second\n");
    await eventually(() => followed.includes("second\n"), { what: "the second line" });
    expect(followed).toEqual(["first\n", "second\n"]);
    leaving.abort();
    await following;
  });

  test("ReplicaLog keeps two files of at most 10 MiB, and a reader gets whole lines across both", async () => {
    const path = join(logDirectory(directory.path, hello), "hello-a");
    const log = await ReplicaLog.open(path);
    const source = new PassThrough();
    log.take(source, "stdout");
    const line = "z".repeat(1_000);
    const count = 25_000;
    for (let number = 0; number < count; number += 1) {
      if (!source.write(`${number} ${line}\n`)) await new Promise((resolve) => source.once("drain", resolve));
    }
    source.end();
    await log.close();
    expect((await stat(path)).size).toBeLessThanOrEqual(logFileSize);
    expect((await stat(`${path}.1`)).size).toBeLessThanOrEqual(logFileSize);

    const numbers: number[] = [];
    for await (const { text } of new LocalLogSource(directory.path).read(query, new AbortController().signal)) {
      expect(text.endsWith(`${line}\n`)).toBe(true);
      numbers.push(Number(text.split(" ")[0]));
    }
    expect(numbers.at(-1)).toBe(count - 1);
    expect(numbers.length).toBeGreaterThan(10_000);
    expect(numbers).toEqual(numbers.map((_, index) => count - numbers.length + index));
    for (const tail of [1, 3_000, numbers.length - 1, 30_000]) {
      const last: number[] = [];
      const records = new LocalLogSource(directory.path).read({ ...query, tail }, new AbortController().signal);
      for await (const { text } of records) last.push(Number(text.split(" ")[0]));
      expect(last).toEqual(numbers.slice(-tail));
    }

    await log.remove();
    expect(await readdir(logDirectory(directory.path, hello))).toEqual([]);
  });

  test("a follower loses nothing when the files change", async () => {
    const log = await ReplicaLog.open(join(logDirectory(directory.path, hello), "hello-a"));
    const source = new PassThrough();
    log.take(source, "stdout");
    const abort = new AbortController();
    const records = new LocalLogSource(directory.path).read({ ...query, follow: true }, abort.signal);
    const count = 15_000;
    const writing = (async () => {
      for (let number = 0; number < count; number += 1) {
        if (!source.write(`${number} ${"z".repeat(1_000)}\n`))
          await new Promise((resolve) => source.once("drain", resolve));
      }
    })();
    let next = 0;
    for await (const { text } of records) {
      expect(Number(text.split(" ")[0])).toBe(next);
      next += 1;
      if (next === count) abort.abort();
    }
    await writing;
    source.end();
    await log.close();

    expect(next).toBe(count);
  });

  test("an unfinished line is not shown, nor one without a time", async () => {
    await mkdir(logDirectory(directory.path, hello), { recursive: true });
    const path = join(logDirectory(directory.path, hello), "hello-a");
    await appendFile(path, "garbage\n2026-01-01T00:00:00.000000000Z whole\n2026-01-01T00:00:00.000000001Z unfini");
    const texts: string[] = [];
    for await (const { text } of new LocalLogSource(directory.path).read(query, new AbortController().signal))
      texts.push(text);

    expect(texts).toEqual(["whole\n"]);
  });

  test("files are for this user only", async () => {
    const path = join(logDirectory(directory.path, hello), "hello-a");
    const log = await ReplicaLog.open(path);
    await log.close();

    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(logDirectory(directory.path, hello))).mode & 0o777).toBe(0o700);
    expect(await readFile(path, "utf8")).toBe("");
  });
});

describe("LocalLogSource", () =>
  logSourceContract(async () => {
    const directory = await tempDirectory("logs");
    const logs = new Map<string, { log: ReplicaLog; stdout: PassThrough; stderr: PassThrough }>();
    const pathOf = (ref: typeof hello, instance: string): string => join(logDirectory(directory.path, ref), instance);
    const writeTo = (output: "stdout" | "stderr") => async (ref: typeof hello, instance: string, text: string) => {
      const path = pathOf(ref, instance);
      let open = logs.get(path);
      if (open === undefined) {
        open = { log: await ReplicaLog.open(path), stdout: new PassThrough(), stderr: new PassThrough() };
        open.log.take(open.stdout, "stdout");
        open.log.take(open.stderr, "stderr");
        logs.set(path, open);
      }
      const before = (await stat(path)).size;
      open[output].write(`${text}\n`);
      while ((await stat(path)).size === before) await new Promise((resolve) => setImmediate(resolve));
    };
    const closeLog = async (open: { log: ReplicaLog; stdout: PassThrough; stderr: PassThrough } | undefined) => {
      open?.stdout.end();
      open?.stderr.end();
      await open?.log.close();
    };
    return {
      source: new LocalLogSource(directory.path),
      write: writeTo("stdout"),
      writeError: writeTo("stderr"),
      removeReplica: async (ref, instance) => {
        const open = logs.get(pathOf(ref, instance));
        await closeLog(open);
        await open?.log.remove();
        logs.delete(pathOf(ref, instance));
      },
      close: async () => {
        for (const open of logs.values()) await closeLog(open);
        await directory.remove();
      },
    };
  }));
