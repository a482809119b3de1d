import { expect, test } from "vitest";

import type { LogRecord } from "../../../../runtime/api/schemas/log-record.ts";
import { lastLogLines } from "../../../../runtime/core/replicas/last-log-lines.ts";
import type { LogQuery, LogSource } from "../../../../runtime/core/ports/log-source.ts";
import { withLastWords } from "../../../../runtime/core/replicas/replica-end.ts";

const ref = { namespace: "functions", name: "hello" };
const record = (second: number, text: string): LogRecord => ({
  ...ref,
  instance: "hello-1",
  timestamp: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000000000Z`,
  text,
});

test("the last ten lines of all replicas by time, without their ends, and cut where they are long", async () => {
  const queries: LogQuery[] = [];
  const logs: LogSource = {
    async *read(query) {
      queries.push(query);
      for (let second = 0; second < 20; second += 2) yield record(second, `a ${second}\n`);
      for (let second = 1; second < 20; second += 2) yield record(second, `b ${second}\n`);
      yield record(20, `${"x".repeat(1_000)}\n`);
    },
  };
  const lines = await lastLogLines(logs, { ...ref }, 7, new AbortController().signal);
  expect(lines).toEqual(
    [11, 12, 13, 14, 15, 16, 17, 18, 19].map((n) => `${n % 2 === 0 ? "a" : "b"} ${n}`).concat("x".repeat(400)),
  );
  expect(queries).toEqual([{ ...ref, instance: undefined, tail: 10, since: 7, follow: false }]);
});

test("the lines so far when time is over, and an error where there is one", async () => {
  const enough = new AbortController();
  const slow: LogSource = {
    async *read() {
      yield record(1, "one\n");
      enough.abort();
      throw new Error("cut");
    },
  };
  expect(await lastLogLines(slow, ref, 0, enough.signal)).toEqual(["one"]);
  const broken: LogSource = {
    async *read() {
      yield await Promise.reject<LogRecord>(new Error("away"));
    },
  };
  await expect(lastLogLines(broken, ref, 0, new AbortController().signal)).rejects.toThrow("away");
});

test("nothing that a function wrote controls the terminal of the reader; tabs stay", async () => {
  const logs: LogSource = {
    async *read() {
      yield record(1, "\u001B[31mred\u001B[0m\tand\u0007 a bell, \u001B]0;title\u0007and a\rreturn\r\n");
    },
  };
  const lines = await lastLogLines(logs, ref, 0, new AbortController().signal);
  expect(lines).toEqual(["red\tand  a bell, and a return"]);
  expect(withLastWords("It ended", ["\u001B[31mError: red\u0007\u001B[0m"])).toBe(
    "It ended; it said last: Error: red ",
  );
});

test("lines of the same time stay in the order in which they were read", async () => {
  const logs: LogSource = {
    async *read() {
      for (const text of ["one", "two", "three"]) yield record(2, text);
      yield record(1, "before");
    },
  };
  expect(await lastLogLines(logs, ref, 0, new AbortController().signal)).toEqual(["before", "one", "two", "three"]);
});

test("a log that goes on after time is over is not read on", async () => {
  const enough = new AbortController();
  let reads = 0;
  const endless: LogSource = {
    async *read() {
      while (reads < 100) {
        reads += 1;
        if (reads === 3) enough.abort();
        yield record(reads, `line ${reads}`);
      }
    },
  };
  expect(await lastLogLines(endless, ref, 0, enough.signal)).toEqual(["line 1", "line 2"]);
  expect(reads).toBe(3);
});
