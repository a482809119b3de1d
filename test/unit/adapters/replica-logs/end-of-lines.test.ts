import { expect, test } from "vitest";

import { endOfLines } from "../../../../runtime/adapters/replica-logs/end-of-lines.ts";
import type { LogLine } from "../../../../runtime/adapters/replica-logs/log-lines.ts";

const timestamp = "2026-01-02T03:04:05.000000000Z";

async function* written(...texts: readonly string[]): AsyncGenerator<LogLine> {
  for (const text of texts) yield { timestamp, text };
}

const textsOf = async (...texts: readonly string[]): Promise<string[]> =>
  (await endOfLines(written(...texts))).map(({ text }) => text);

test("the last lines that fit into 64 KiB without their times are kept, in order", async () => {
  const half = "x".repeat(32 * 1_024 - 1);
  expect(await textsOf("first", "second")).toEqual(["first", "second"]);
  expect(await textsOf("first", half, half)).toEqual([half, half]);
  expect(await textsOf(half, half, "last")).toEqual([half, "last"]);
});

test("a longer last line is kept whole and alone", async () => {
  const long = "x".repeat(70_000);
  expect(await textsOf("first", long)).toEqual([long]);
  expect(await textsOf()).toEqual([]);
});
