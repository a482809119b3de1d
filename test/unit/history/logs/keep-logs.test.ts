import { afterEach, beforeEach, expect, test } from "vitest";

import { formatLogMoment } from "../../../../runtime/core/history/logs/log-moment.ts";
import type { FunctionRef } from "../../../../runtime/core/functions/function-ref.ts";
import type { FollowedLine } from "../../../../runtime/core/ports/kept-logs.ts";
import type { LogQuery } from "../../../../runtime/core/ports/log-source.ts";
import { keepLogs } from "../../../../runtime/history/logs/keep-logs.ts";
import { createLog } from "../../../../runtime/process/log.ts";
import { eventually } from "../../../support/eventually.ts";
import { MemoryKeptLogs } from "../../../support/memory/memory-kept-logs.ts";
import { MemoryLogSource } from "../../../support/memory/memory-log-source.ts";

const hello = { namespace: "functions", name: "hello" };
const pay = { namespace: "shop", name: "pay" };
const start = Date.parse("2026-01-31T12:00:00Z");
const log = createLog("test", "fatal");

let source: MemoryLogSource;
let queries: LogQuery[];
let kept: MemoryKeptLogs;
let active: readonly FunctionRef[];
let dropped: number;
let append: (lines: readonly FollowedLine[]) => Promise<void>;
let running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;

beforeEach(() => {
  source = new MemoryLogSource();
  queries = [];
  kept = new MemoryKeptLogs();
  active = [hello];
  dropped = 0;
  append = (lines) => kept.append(lines);
});
afterEach(async () => stop());

function begin(): void {
  const stopping = new AbortController();
  const done = keepLogs(
    {
      source: {
        read: (query, signal) => {
          queries.push(query);
          return source.read(query, signal);
        },
      },
      functions: { active: async () => active.map((ref) => ({ ...ref, replicas: 1 })) },
      writer: { positions: (ref) => kept.positions(ref), append: (lines) => append(lines) },
      onDrop: () => (dropped += 1),
      onFollow: () => {},
      log,
      period: 5,
      retryAfter: 5,
    },
    stopping.signal,
  );
  running = { stop: stopping, done };
}

async function stop(): Promise<void> {
  running?.stop.abort();
  await running?.done;
  running = undefined;
}

function write(ref: FunctionRef, at: number, text = `${at}`): void {
  source.write(ref, "a", text, formatLogMoment({ at: start + at, nanos: 0 }));
}

const textsOf = async (ref: FunctionRef = hello): Promise<string[]> =>
  (await kept.lines({ ...ref, limit: 10_000 })).lines.map(({ text }) => text.trimEnd());

const untilKept = (count: number, ref: FunctionRef = hello) =>
  eventually(async () => (await textsOf(ref)).length >= count, { what: `${count} lines of ${ref.name}` });

test("lines of functions with replicas are kept, of those that come later too", async () => {
  write(hello, 1);
  begin();
  await untilKept(1);
  write(hello, 2);
  write(pay, 1);
  active = [hello, pay];
  await untilKept(2);
  await untilKept(1, pay);
  expect(await textsOf()).toEqual(["1", "2"]);
});

test("another follower goes on where the first ended, without a line twice", async () => {
  for (const at of [1, 1, 2]) write(hello, at, `first ${at}`);
  begin();
  await untilKept(3);
  await stop();
  for (const at of [2, 90_000]) write(hello, at, `then ${at}`);
  begin();
  await untilKept(5);
  expect(await textsOf()).toEqual(["first 1", "first 1", "first 2", "then 2", "then 90000"]);
  expect(queries.map(({ since }) => since)).toEqual([undefined, start + 2 - 60_000]);
});

test("a function whose replicas are gone is followed no longer, and again when it has one", async () => {
  begin();
  write(hello, 1);
  await untilKept(1);
  active = [];
  await eventually(() => source.followers(hello) === 0, { what: "the follower to end" });
  active = [hello];
  await eventually(() => source.followers(hello) === 1, { what: "the next follower" });
  write(hello, 2);
  await untilKept(2);
  expect(await textsOf()).toEqual(["1", "2"]);
});

test("what is over the rate is dropped and counted, and one line stands for it", async () => {
  for (let number = 0; number < 1_404; number += 1) write(hello, 1, `${number}`);
  begin();
  await untilKept(201);
  const texts = await textsOf();
  expect([texts.length, texts[199], texts[200], dropped]).toEqual([201, "199", "… 1 204 lines were not kept", 1_204]);
  await stop();
  begin();
  write(hello, 2_000);
  await untilKept(202);
  expect((await textsOf()).slice(200)).toEqual(["… 1 204 lines were not kept", "2000"]);
});

test("a store that fails costs no line: what follows waits", async () => {
  let failures = 1;
  append = async (lines) => {
    failures -= 1;
    if (failures >= 0) throw new Error("no space");
    await kept.append(lines);
  };
  for (const at of [1, 2, 3]) write(hello, at);
  begin();
  await untilKept(3);
  expect(await textsOf()).toEqual(["1", "2", "3"]);
});

test("it stops while its store fails", async () => {
  append = () => Promise.reject(new Error("no space"));
  for (let at = 0; at < 9_000; at += 1) write(hello, at * 10);
  begin();
  await eventually(() => queries.length === 1, { what: "the follower" });
  await stop();
  expect(await textsOf()).toEqual([]);
});
