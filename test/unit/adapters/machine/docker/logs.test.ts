import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";

import { logFrames } from "../../../../../runtime/adapters/machine/docker/engine/log-frames.ts";
import { logLines, type LogLine } from "../../../../../runtime/adapters/replica-logs/log-lines.ts";
import { mergeByTime } from "../../../../../runtime/adapters/replica-logs/merge-by-time.ts";
import { MergedStreams } from "../../../../../runtime/adapters/replica-logs/merge-streams.ts";
import { eventually } from "../../../../support/eventually.ts";

const time = "2026-01-31T12:00:00.000000001Z";

function frame(stream: number, text: string): Buffer {
  const body = Buffer.from(`${time} ${text}`);
  const head = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

async function linesOf(bytes: Buffer, chunkSize: number): Promise<string[]> {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkSize) }, (_, index) =>
    bytes.subarray(index * chunkSize, (index + 1) * chunkSize),
  );
  const lines: LogLine[] = [];
  for await (const line of logLines(logFrames(Readable.from(chunks)))) lines.push(line);
  expect(lines.every(({ timestamp }) => timestamp === time)).toBe(true);
  expect(lines.filter(({ isUnfinished }) => isUnfinished).map(({ text }) => text)).toEqual(
    lines.filter(({ text }) => text === "unfinished").map(({ text }) => text),
  );
  return lines.map(({ stream, text }) => (stream === "stderr" ? `error ${text}` : text));
}

describe("lines of a container", () => {
  const bytes = Buffer.concat([
    frame(1, "one\n"),
    frame(2, "long be"),
    frame(1, "two  ünicode\n"),
    frame(2, "ginning\n"),
    frame(1, "\n"),
    frame(1, "unfinished"),
  ]);

  test.each([1, 3, 7, 64, 10_000])("are joined from chunks of %i bytes, each with its output", async (size) => {
    expect(await linesOf(bytes, size)).toEqual(["one", "two  ünicode", "error long beginning", "", "unfinished"]);
  });

  test("come as far as they were read when the log breaks, then its error", async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.concat([frame(1, "half"), frame(2, "other\n")]);
      throw new Error("the engine is gone");
    }
    const lines: LogLine[] = [];
    const reading = (async () => {
      for await (const line of logLines(logFrames(Readable.from(broken())))) lines.push(line);
    })();
    await expect(reading).rejects.toThrow("the engine is gone");
    expect(lines.map(({ text, isUnfinished = false }) => [text, isUnfinished])).toEqual([
      ["other", false],
      ["half", true],
    ]);
  });

  test("longer than 64 KiB are cut and marked", async () => {
    const chunk = "x".repeat(16_384);
    const long = [...Array.from({ length: 5 }, () => frame(1, chunk)), frame(1, "end\n"), frame(1, "next\n")];

    expect(await linesOf(Buffer.concat(long), 5_000)).toEqual([`${"x".repeat(65_536)} [cut]`, "next"]);
  });
});

describe("MergedStreams", () => {
  async function* letters(text: string): AsyncGenerator<string> {
    yield* text;
  }

  test("gives all values, also of sequences that join later, and ends when it is closed", async () => {
    const merged = new MergedStreams<string>();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const value of merged.values()) seen.push(value);
    })();
    merged.add(letters("ab"));
    await Promise.resolve();
    merged.add(letters("cd"));
    merged.close();
    await reading;

    expect(seen.filter((value) => "ab".includes(value)).join("")).toBe("ab");
    expect(seen.filter((value) => "cd".includes(value)).join("")).toBe("cd");
  });

  test("reads no more values than are consumed", async () => {
    let produced = 0;
    const merged = new MergedStreams<number>();
    merged.add(
      (async function* () {
        for (;;) yield (produced += 1);
      })(),
    );
    for await (const value of merged.values()) if (value === 3) break;

    expect(produced).toBeLessThanOrEqual(5);
  });
});

describe("mergeByTime()", () => {
  async function* written(...timestamps: string[]): AsyncGenerator<{ readonly timestamp: string }> {
    for (const timestamp of timestamps) yield { timestamp };
  }

  test("merges sequences by time, equal times in the order given", async () => {
    const seen: string[] = [];
    for await (const { timestamp } of mergeByTime([written("1", "4", "5"), written(), written("2", "3", "4", "6")])) {
      seen.push(timestamp);
    }
    expect(seen).toEqual(["1", "2", "3", "4", "4", "5", "6"]);
  });

  test("ends the others when iteration stops, and rejects as they do", async () => {
    let ended = 0;
    async function* endless(): AsyncGenerator<{ readonly timestamp: string }> {
      try {
        for (;;) yield { timestamp: "1" };
      } finally {
        ended += 1;
      }
    }
    for await (const _ of mergeByTime([endless(), endless()])) break;
    await eventually(() => ended === 2, { what: "the end of both" });

    async function* broken(): AsyncGenerator<{ readonly timestamp: string }> {
      yield { timestamp: "1" };
      throw new Error("It is away");
    }
    const reading = async (): Promise<void> => {
      for await (const _ of mergeByTime([broken(), written("2")]));
    };
    await expect(reading()).rejects.toThrow("It is away");
  });
});
