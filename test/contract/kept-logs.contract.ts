import { expect, test } from "vitest";

import type { OutputName } from "../../runtime/api/schemas/log-record.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import { formatLogMoment } from "../../runtime/core/history/logs/log-moment.ts";
import { readKeptLines } from "../../runtime/core/history/logs/read-kept-lines.ts";
import type { FollowedLine, KeptLine, KeptLogs, KeptLogsWriter } from "../../runtime/core/ports/kept-logs.ts";

/** Kept logs that are empty. */
export interface OpenKeptLogs {
  readonly reads: KeptLogs;
  readonly writer: KeptLogsWriter;
  close(): Promise<void>;
}

const pay = { namespace: "shop", name: "pay" };
const echo = { namespace: "functions", name: "echo" };
const start = Date.parse("2026-01-31T12:00:00Z");
const mebibyte = 1_048_576;
const unbounded = { age: 366 * 86_400_000, bytes: 2 ** 40, functionBytes: 2 ** 40 };

interface LineParts {
  readonly instance?: string;
  /** Milliseconds after the start. */
  readonly at: number;
  readonly nanos?: number;
  readonly number?: number;
  readonly text?: string;
  readonly stream?: OutputName;
}

function line(
  ref: FunctionRef,
  { instance = "a", at, nanos = 0, number = 0, text = `${at}`, ...known }: LineParts,
): FollowedLine {
  const timestamp = formatLogMoment({ at: start + at, nanos });
  return { ...ref, instance, timestamp, text: `${text}\n`, number, ...known };
}

const texts = (lines: readonly KeptLine[]): string[] => lines.map(({ text }) => text.trimEnd());

/** What every `KeptLogs` with its `KeptLogsWriter` promises. */
export function keptLogsContract(open: () => Promise<OpenKeptLogs>): void {
  const opened = (name: string, body: (logs: OpenKeptLogs) => Promise<void>): void => {
    test(name, async () => {
      const logs = await open();
      try {
        await body(logs);
      } finally {
        await logs.close();
      }
    });
  };
  const all = async (reads: KeptLogs, ref: FunctionRef = pay): Promise<readonly KeptLine[]> =>
    await Array.fromAsync(readKeptLines(reads, ref));

  opened("lines come as they were written, of all replicas in the order of their times", async ({ reads, writer }) => {
    const text = "ünïcode\twith … and \\n";
    await writer.append([
      line(pay, { at: 2, text }),
      line(pay, { at: 3 }),
      line(pay, { instance: "b", at: 2, nanos: 1 }),
      line(echo, { at: 1 }),
    ]);

    const lines = await all(reads);
    expect(lines.map((one) => ({ ...one, place: undefined }))).toEqual([
      { ...pay, instance: "a", timestamp: "2026-01-31T12:00:00.002000000Z", text: `${text}\n` },
      { ...pay, instance: "b", timestamp: "2026-01-31T12:00:00.002000001Z", text: "2\n" },
      { ...pay, instance: "a", timestamp: "2026-01-31T12:00:00.003000000Z", text: "3\n" },
    ]);
    expect(await reads.lines({ ...pay, name: "other", limit: 10 })).toEqual({ lines: [] });
  });

  opened("a line keeps the output that it was written to, if that is known", async ({ reads, writer }) => {
    await writer.append([
      line(pay, { at: 1, stream: "stdout" }),
      line(pay, { at: 2, stream: "stderr" }),
      line(pay, { at: 3 }),
    ]);
    const lines = await all(reads);
    expect(lines.map((one) => one.stream)).toEqual(["stdout", "stderr", undefined]);
    expect(lines.map((one) => "stream" in one)).toEqual([true, true, false]);
  });

  opened("the call in a tag is apart from the text, and found by it", async ({ reads, writer }) => {
    const call = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
    await writer.append([
      line(pay, { at: 1, text: `\u001e${call}\u001fpaid` }),
      line(pay, { at: 2, text: "\u001eno tag\u001f" }),
    ]);
    const lines = await all(reads);
    expect(lines.map((one) => [one.call, one.text])).toEqual([
      [call, "paid\n"],
      [undefined, "\u001eno tag\u001f\n"],
    ]);
    const found = await reads.lines({ ...pay, containing: call, limit: 10 });
    expect(texts(found.lines)).toEqual(["paid"]);
  });

  opened("lines up to the position of their replica are left out", async ({ reads, writer }) => {
    const lines = [line(pay, { at: 1 }), line(pay, { at: 1, number: 1, text: "same time" }), line(pay, { at: 2 })];
    await writer.append(lines.slice(0, 2));
    await writer.append(lines);
    await writer.append(lines);
    expect(texts(await all(reads))).toEqual(["1", "same time", "2"]);
    await writer.append([line(pay, { instance: "b", at: 1, text: "of another" })]);
    expect(texts(await all(reads))).toEqual(["1", "same time", "of another", "2"]);

    expect(await writer.positions(pay)).toEqual(
      new Map([
        ["a", { at: start + 2, nanos: 0, number: 0 }],
        ["b", { at: start + 1, nanos: 0, number: 0 }],
      ]),
    );
    expect(await writer.positions(echo)).toEqual(new Map());
  });

  opened("a query narrows by replica, time and text", async ({ reads, writer }) => {
    await writer.append([1, 2, 3, 4].map((at) => line(pay, { at })));
    await writer.append([1, 2, 3, 4].map((at) => line(pay, { instance: "b", at, text: `b${at}` })));
    const found = async (query: object) => texts((await reads.lines({ ...pay, limit: 10, ...query })).lines);

    expect(await found({ instance: "b" })).toEqual(["b1", "b2", "b3", "b4"]);
    expect(await found({ instance: "c" })).toEqual([]);
    expect(await found({ since: start + 2, until: start + 4 })).toEqual(["2", "b2", "3", "b3"]);
    expect(await found({ containing: "b3" })).toEqual(["b3"]);
    expect(await found({ newest: true, limit: 3 })).toEqual(["b3", "4", "b4"]);
    expect(await found({ newest: true, limit: 1, instance: "a", until: start + 3 })).toEqual(["2"]);
  });

  opened("a text is found as it is, however many lines are between", async ({ reads, writer }) => {
    const others = Array.from({ length: 11_000 }, (_, at) => line(pay, { at, text: `10${at % 2 ? "x" : " "}0` }));
    await writer.append([
      ...others,
      line(pay, { at: 20_000, text: "Rate: 10%_\\0" }),
      line(pay, { at: 20_001, text: "rate: 10%_\\0" }),
    ]);
    const found = await Array.fromAsync(readKeptLines(reads, { ...pay, containing: "rate: 10%_\\0" }));
    expect(texts(found)).toEqual(["rate: 10%_\\0"]);
    expect((await Array.fromAsync(readKeptLines(reads, { ...pay, containing: "10x0" }))).length).toBe(5_500);
    const newest = await reads.lines({ ...pay, containing: "10 0", newest: true, limit: 2 });
    expect(newest.lines.map(({ place: [at] }) => at - start)).toEqual([10_996, 10_998]);
    expect(await reads.lines({ ...pay, containing: "nothing", newest: true, limit: 2 })).toEqual({ lines: [] });
  });

  opened("pages go on after the last line, also among lines of one time", async ({ reads, writer }) => {
    await writer.append(Array.from({ length: 25 }, (_, number) => line(pay, { at: 5, number, text: `${number}` })));
    const found: string[] = [];
    for (let page = await reads.lines({ ...pay, limit: 10 }); ;) {
      found.push(...texts(page.lines));
      if (page.next === undefined) break;
      page = await reads.lines({ ...pay, limit: 10, after: page.next });
    }
    expect(found).toEqual(Array.from({ length: 25 }, (_, number) => `${number}`));
  });

  opened("replicas are named, those that wrote last first", async ({ reads, writer }) => {
    await writer.append([
      line(pay, { instance: "a", at: 1 }),
      line(pay, { instance: "b", at: 3 }),
      line(pay, { instance: "c", at: 2 }),
    ]);
    expect(await reads.lineReplicas(pay)).toEqual(["b", "c", "a"]);
    expect(await reads.lineReplicas(echo)).toEqual([]);
  });

  opened("single lines are removed, and are not kept again", async ({ reads, writer }) => {
    const lines = [1, 2, 3].map((at) => line(pay, { at }));
    await writer.append(lines);
    const places = (await all(reads)).map(({ place }) => place);
    await writer.remove(echo, places);
    expect(await all(reads)).toHaveLength(3);
    await writer.remove(pay, places.slice(1));
    await writer.append(lines);
    expect(texts(await all(reads))).toEqual(["1"]);
  });

  opened("a namespace is removed with its positions", async ({ reads, writer }) => {
    const lines = [line(pay, { at: 1 }), line({ ...pay, name: "refund" }, { at: 1 }), line(echo, { at: 1 })];
    await writer.append(lines);
    expect(await writer.namespaces()).toEqual(["functions", "shop"]);
    await writer.removeNamespace("shop");
    expect(await writer.namespaces()).toEqual(["functions"]);
    expect([await all(reads), (await all(reads, echo)).length]).toEqual([[], 1]);
    await writer.append(lines);
    expect(await all(reads)).toHaveLength(1);
  });

  const trim = async (writer: KeptLogsWriter, bounds: object, now = start): Promise<void> => {
    while (await writer.trim({ ...unbounded, ...bounds }, now));
  };

  opened("lines leave by age; what is left stays readable", async ({ reads, writer }) => {
    await writer.append([1, 2, 3].map((at) => line(pay, { at: at * 1_000 })));
    await trim(writer, { age: 60_000 }, start + 61_500);
    expect(texts(await all(reads))).toEqual(["2000", "3000"]);
    await trim(writer, { age: 60_000 }, start + 71_500);
    expect(await all(reads)).toEqual([]);
    expect((await writer.size()).lines).toBe(0);
    await writer.append([line(pay, { at: 80_000 })]);
    expect(texts(await all(reads))).toEqual(["80000"]);
  });

  opened("a function has its own bound, which leaves the lines of others alone", async ({ reads, writer }) => {
    const text = "x".repeat(10_000);
    await writer.append(Array.from({ length: 300 }, (_, at) => line(pay, { at, text: `${at} ${text}` })));
    await writer.append([line(echo, { at: 0 })]);
    await trim(writer, { functionBytes: mebibyte });

    const left = await all(reads);
    const bytes = left.reduce((sum, { text: own }) => sum + own.length, 0);
    expect(bytes).toBeLessThanOrEqual(mebibyte);
    expect(bytes).toBeGreaterThan(0.9 * mebibyte);
    expect(left.at(-1)?.text).toMatch(/^299 /);
    expect(await all(reads, echo)).toHaveLength(1);
  });

  opened("all lines together have a bound; the oldest of any function leave", async ({ reads, writer }) => {
    const text = "x".repeat(10_000);
    await writer.append([line(echo, { at: -1 })]);
    await writer.append(Array.from({ length: 300 }, (_, at) => line(pay, { at, text: `${at} ${text}` })));
    await trim(writer, { bytes: mebibyte });

    expect((await writer.size()).bytes).toBeLessThanOrEqual(mebibyte);
    expect(await all(reads, echo)).toEqual([]);
    const left = await all(reads);
    expect(left.at(-1)?.text).toMatch(/^299 /);
    expect(left.length).toBeGreaterThan(50);
  });
}
