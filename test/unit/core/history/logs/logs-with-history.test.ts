import { beforeEach, expect, test } from "vitest";

import { formatLogMoment } from "../../../../../runtime/core/history/logs/log-moment.ts";
import { logsWithHistory, type BoundedLogQuery } from "../../../../../runtime/core/history/logs/logs-with-history.ts";
import type { LogQuery, LogSource } from "../../../../../runtime/core/ports/log-source.ts";
import { MemoryKeptLogs } from "../../../../support/memory/memory-kept-logs.ts";
import { MemoryLogSource } from "../../../../support/memory/memory-log-source.ts";

const hello = { namespace: "functions", name: "hello" };
const start = Date.parse("2026-01-31T12:00:00Z");
const all = { ...hello, instance: undefined, tail: undefined, since: undefined, until: undefined, follow: false };
const timestamp = (at: number): string => formatLogMoment({ at: start + at, nanos: 0 });

let kept: MemoryKeptLogs;
let logs: MemoryLogSource;

beforeEach(() => {
  kept = new MemoryKeptLogs();
  logs = new MemoryLogSource();
});

async function keep(instance: string, ...times: readonly number[]): Promise<void> {
  await kept.append(
    times.map((at) => ({ ...hello, instance, timestamp: timestamp(at), text: `${instance}${at}\n`, number: 0 })),
  );
}

function log(instance: string, ...times: readonly number[]): void {
  for (const at of times) logs.write(hello, instance, `${instance}${at}`, timestamp(at));
}

async function read(query: Partial<BoundedLogQuery> = {}, source: LogSource = logs): Promise<string[]> {
  const signal = new AbortController().signal;
  const records = await Array.fromAsync(logsWithHistory({ kept, logs: source }, { ...all, ...query }, signal));
  return records.map(({ text }) => text.trimEnd());
}

test("lines of replicas whose log is gone come first, then the log", async () => {
  await keep("a", 1, 2);
  await keep("b", 2, 3);
  log("b", 2, 3, 4);
  log("c", 5);
  expect(await read()).toEqual(["a1", "a2", "b2", "b3", "b4", "c5"]);
});

test("where a log begins later than the kept lines of its replica, those come before it", async () => {
  await keep("a", 1, 2, 3);
  log("b", 2);
  log("a", 3, 4);
  expect(await read()).toEqual(["b2", "a1", "a2", "a3", "a4"]);
});

test("since, until, instance and tail narrow both", async () => {
  await keep("a", 1, 2, 3);
  await keep("b", 2, 4);
  log("c", 5, 6, 7);
  expect(await read({ since: start + 3 })).toEqual(["a3", "b4", "c5", "c6", "c7"]);
  expect(await read({ until: start + 3 })).toEqual(["a1", "a2", "b2"]);
  expect(await read({ since: start + 2, until: start + 6 })).toEqual(["a2", "b2", "a3", "b4", "c5"]);
  expect(await read({ instance: "a" })).toEqual(["a1", "a2", "a3"]);
  expect(await read({ tail: 2 })).toEqual(["a2", "a3", "b2", "b4", "c6", "c7"]);
  expect(await read({ tail: 1, instance: "b" })).toEqual(["b4"]);
});

test("a replica that starts while it is read has no line twice", async () => {
  await keep("a", 1);
  let begun = false;
  // As the look at which replicas there are ends, another one writes, and its lines are kept.
  const late: LogSource = {
    read: (query: LogQuery, signal: AbortSignal) =>
      (async function* () {
        if (begun) log("b", 2, 3);
        yield* logs.read(query, signal);
        if (!begun) await keep("b", 2);
        begun = true;
      })(),
  };
  expect(await read({}, late)).toEqual(["a1", "b2", "b3"]);
});

test("where only the last lines are asked for, the log of a replica that has one is enough", async () => {
  await keep("a", 1, 2);
  log("a", 3, 4);
  expect(await read({ tail: 1 })).toEqual(["a4"]);
});

test("lines of the log whose time cannot be read are left out", async () => {
  log("a", 1);
  logs.write(hello, "a", "whenever", "yesterday");
  log("a", 2);
  expect(await read()).toEqual(["a1", "a2"]);
});

test("thousands of kept lines come in their order, each once", async () => {
  const times = Array.from({ length: 2_500 }, (_, at) => at);
  await keep("a", ...times);
  expect(await read()).toEqual(times.map((at) => `a${at}`));
});
