import { describe, expect, test } from "vitest";

import type { LogLine } from "../../../../runtime/adapters/replica-logs/log-lines.ts";
import {
  readReplicaLogs,
  type LoggedReplicas,
  type LogRange,
} from "../../../../runtime/adapters/replica-logs/read-replica-logs.ts";
import type { LogRecord } from "../../../../runtime/api/schemas/log-record.ts";
import { eventually } from "../../../support/eventually.ts";

const hello = { namespace: "functions", name: "hello" };
const time = (second: number): string => `2026-01-31T12:00:${String(second).padStart(2, "0")}.000000000Z`;
const line = (second: number): LogLine => ({ timestamp: time(second), text: `line ${second}`, stream: "stderr" });

/** Replicas whose log ends after each look, as when a container restarts. */
class TestReplicas implements LoggedReplicas<{ readonly id: string }> {
  readonly interval = 5;
  readonly logs = new Map<string, LogLine[]>();
  readonly ranges: LogRange[] = [];
  away = false;

  async replicasOf() {
    if (this.away) throw new Error("It is away");
    return [...this.logs.keys()].map((id) => ({ id }));
  }

  knows(): boolean {
    return this.away;
  }

  onChange(): () => void {
    return () => {};
  }

  async *lines({ id }: { readonly id: string }, range: LogRange): AsyncGenerator<LogLine> {
    this.ranges.push(range);
    if (!this.away) yield* this.logs.get(id) ?? [];
  }
}

const query = { ...hello, instance: undefined, tail: undefined, since: undefined, follow: true };

function read(
  replicas: TestReplicas,
  over: object = {},
): { readonly records: LogRecord[]; readonly end: Promise<void> } {
  const records: LogRecord[] = [];
  const { signal } = new AbortController();
  const end = (async () => {
    for await (const record of readReplicaLogs(replicas, { ...query, ...over }, signal)) records.push(record);
  })();
  return { records, end };
}

test("a followed log continues after restarts and while replicas cannot be listed, each line once", async () => {
  const replicas = new TestReplicas();
  replicas.logs.set("a", [line(1)]);
  const { records, end } = read(replicas);
  const until = (count: number) => eventually(() => records.length === count, { what: `${count} lines` });
  await until(1);
  replicas.logs.set("a", [line(1), line(2)]);
  await until(2);
  replicas.away = true;
  const looks = replicas.ranges.length;
  await eventually(() => replicas.ranges.length > looks + 3, { what: "looks in vain" });
  replicas.logs.set("b", [line(1)]);
  replicas.logs.set("a", [line(3)]);
  replicas.away = false;
  await until(4);
  replicas.logs.clear();
  await end;
  expect(records.map(({ instance, text }) => `${instance} ${text}`).sort()).toEqual([
    "a line 1\n",
    "a line 2\n",
    "a line 3\n",
    "b line 1\n",
  ]);
  expect(records.every(({ stream }) => stream === "stderr")).toBe(true);
});

describe("a line that is read while it is written", () => {
  const part: LogLine = { ...line(2), text: "li", isUnfinished: true };

  /** Lines of which the last one is longer at each look. */
  class GrowingReplicas extends TestReplicas {
    override async *lines(replica: { readonly id: string }, range: LogRange): AsyncGenerator<LogLine> {
      const looks = this.ranges.length;
      for await (const each of super.lines(replica, range))
        yield each.isUnfinished === true ? { ...each, text: `${each.text}${"i".repeat(looks)}` } : each;
    }
  }

  test("is followed as a whole, and once", async () => {
    const replicas = new GrowingReplicas();
    replicas.logs.set("a", [line(1), part]);
    const { records, end } = read(replicas);
    await eventually(() => replicas.ranges.length > 2, { what: "several looks" });
    expect(records.map(({ text }) => text)).toEqual(["line 1\n"]);
    // It is read again from its start.
    expect(replicas.ranges.at(-1)).toEqual({ since: time(2), tail: undefined, follow: true });
    replicas.logs.set("a", [line(1), line(2), line(3)]);
    await eventually(() => records.length === 3, { what: "three lines" });
    replicas.logs.clear();
    await end;
    expect(records.map(({ text }) => text)).toEqual(["line 1\n", "line 2\n", "line 3\n"]);
  });

  test("is passed on as it is when it does not grow any more, as its writer has ended", async () => {
    const replicas = new TestReplicas();
    replicas.logs.set("a", [part]);
    const { records, end } = read(replicas);
    await eventually(() => records.length === 1, { what: "its last words" });
    await eventually(() => replicas.ranges.length > 4, { what: "several looks" });
    replicas.logs.clear();
    await end;
    expect(records).toEqual([{ ...hello, instance: "a", timestamp: time(2), text: "li\n", stream: "stderr" }]);
  });

  test("is passed on as it is when another line follows it, as after a restart, or its replica is gone", async () => {
    const replicas = new GrowingReplicas();
    replicas.logs.set("a", [part]);
    const { records, end } = read(replicas);
    await eventually(() => replicas.ranges.length > 2, { what: "several looks" });
    expect(records).toEqual([]);
    replicas.logs.set("a", [line(3), { ...line(4), isUnfinished: true }]);
    await eventually(() => records.length === 2, { what: "what followed it" });
    replicas.logs.clear();
    await end;
    expect(records.map(({ text }) => text.replace(/i+\n$/, "i\n"))).toEqual(["li\n", "line 3\n", "line 4i\n"]);
    expect(records[0]).toMatchObject({ ...hello, instance: "a", timestamp: time(2), stream: "stderr" });
    expect(records.some((record) => "isUnfinished" in record)).toBe(false);
  });

  test("is listed as it is", async () => {
    const replicas = new TestReplicas();
    replicas.logs.set("a", [line(1), part]);
    const { records, end } = read(replicas, { follow: false });
    await end;
    expect(records.map(({ text }) => text)).toEqual(["line 1\n", "li\n"]);
  });

  test("comes though the other output wrote later lines meanwhile", async () => {
    const replicas = new GrowingReplicas();
    const other: LogLine = { ...line(3), stream: "stdout" };
    replicas.logs.set("a", [line(1), other, part]);
    const { records, end } = read(replicas);
    await eventually(() => records.length === 2, { what: "the whole lines" });
    replicas.logs.set("a", [line(1), other, line(2)]);
    await eventually(() => records.length === 3, { what: "the long one" });
    replicas.logs.clear();
    await end;
    expect(records.map(({ text }) => text)).toEqual(["line 1\n", "line 3\n", "line 2\n"]);
  });
});

test("tail counts a long line that is stored in parts once, and since drops earlier lines", async () => {
  const replicas = new TestReplicas();
  replicas.logs.set("a", [1, 2, 3, 4].map(line));
  const tail = read(replicas, { follow: false, tail: 2 });
  await tail.end;
  expect(tail.records.map(({ text }) => text)).toEqual(["line 3\n", "line 4\n"]);
  expect(replicas.ranges[0]).toEqual({ since: undefined, tail: 10, follow: false });
  expect(replicas.ranges[1]).toEqual({ since: time(3), tail: undefined, follow: false });
  const since = read(replicas, { follow: false, since: Date.parse(time(4)) });
  await since.end;
  expect(since.records.map(({ timestamp }) => timestamp)).toEqual([time(4)]);
});

test.each([false, true])("lines of several replicas are in the order of time, follow: %s", async (follow) => {
  const replicas = new TestReplicas();
  replicas.logs.set("a", [line(1), line(4)]);
  replicas.logs.set("b", [line(2), line(3), line(5)]);
  const { records, end } = read(replicas, { follow });
  await eventually(() => records.length === 5, { what: "all lines" });
  expect(records.map(({ text }) => text)).toEqual([1, 2, 3, 4, 5].map((second) => `line ${second}\n`));
  replicas.logs.clear();
  await end;
});

test("a failure of the first look is an error", async () => {
  const replicas = new TestReplicas();
  replicas.away = true;
  await expect(read(replicas).end).rejects.toThrow("It is away");
});

test("kept lines of ended replicas are in the order of time, and come only once", async () => {
  const replicas = new TestReplicas();
  replicas.logs.set("b", [line(2), line(4)]);
  const ended = async (_query: unknown, known: Set<string>): Promise<AsyncIterable<LogRecord>[]> => {
    const kept = ["a", "b"].filter((id) => !known.has(id));
    for (const id of kept) known.add(id);
    return kept.map(async function* (instance) {
      for (const second of [1, 3]) yield { ...hello, instance, timestamp: time(second), text: `kept ${second}\n` };
    });
  };
  const { records, end } = read(Object.assign(replicas, { ended }), { follow: false });
  await end;

  expect(records.map(({ instance, text }) => `${instance} ${text}`)).toEqual([
    "a kept 1\n",
    "b line 2\n",
    "a kept 3\n",
    "b line 4\n",
  ]);
});

test("a reader that stops with the last line of the backlog leaves no watch open", async () => {
  const replicas = new TestReplicas();
  replicas.logs.set("a", [line(1)]);
  let watchers = 0;
  replicas.onChange = () => {
    watchers += 1;
    return () => void (watchers -= 1);
  };
  const stop = new AbortController();
  replicas.lines = async function* () {
    yield line(1);
    stop.abort();
  };
  for await (const record of readReplicaLogs(replicas, query, stop.signal)) expect(record.text).toBe("line 1\n");
  expect(watchers).toBe(0);
});
