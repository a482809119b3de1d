import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { SqliteKeptLogsWriter } from "../../runtime/adapters/sqlite/logs/sqlite-kept-logs-writer.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import { formatLogMoment } from "../../runtime/core/history/logs/log-moment.ts";
import type { FollowedLine } from "../../runtime/core/ports/kept-logs.ts";
import { say } from "../tools.ts";
import { linesOfFunction } from "./offered-lines.ts";

/** A call whose id stands in a line. */
export interface NamedCall {
  readonly ref: FunctionRef;
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** A directory with a file of kept lines. */
export interface ManyLines {
  readonly directory: string;
  readonly functions: readonly FunctionRef[];
  readonly calls: readonly NamedCall[];
}

const mebibyte = 1_048_576;
/** What a file may hold, and what is made of it: its reads depend on how many lines a function has a second. */
const size = { full: 1_024 * mebibyte, made: 256 * mebibyte };
const functions: readonly FunctionRef[] = Array.from({ length: 8 }, (_, index) => ({
  namespace: "functions",
  name: `talks-${index}`,
}));
const text = `${"a line of a function that says what it does, ".repeat(4)}\n`;
/** One of so many lines names a call. */
const namedEvery = 50;
/** One of so many calls is known. */
const knownEvery = 97;
const batchSize = 2_000;

let made: Promise<ManyLines> | undefined;

/** Makes it once per process of the bench, at whose end it is removed. */
export function manyLines(): Promise<ManyLines> {
  made ??= make();
  return made;
}

async function make(): Promise<ManyLines> {
  const directory = mkdtempSync(join(tmpdir(), "weir-bench-lines-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  say(`H8: a file of ${size.made / mebibyte} MiB of lines is made, in place of one of ${size.full / mebibyte}`);
  const writer = await SqliteKeptLogsWriter.open({ file: join(directory, "logs.db") });
  const begin = Date.now() - 3_600_000;
  const calls: NamedCall[] = [];
  try {
    for (let from = 0; (await writer.size()).bytes < size.made; from += batchSize) {
      const numbers = Array.from({ length: batchSize }, (_, index) => from + index);
      await writer.append(numbers.map((number) => lineOf(number, begin, calls)));
    }
  } finally {
    await writer.close();
  }
  return { directory, functions, calls };
}

function lineOf(number: number, begin: number, calls: NamedCall[]): FollowedLine {
  const ref = functions[number % functions.length];
  if (ref === undefined) throw new TypeError("there are no functions");
  const ofFunction = Math.floor(number / functions.length);
  const at = begin + Math.floor((ofFunction * 1_000) / linesOfFunction);
  const line = { ...ref, instance: "r1", timestamp: formatLogMoment({ at, nanos: 0 }), number: 0, text };
  if (ofFunction % namedEvery !== 0) return line;
  const id = `${number.toString(16).padStart(8, "0")}-40a5-4a0e-9a53-3ad9f7a7f0d1`;
  if (ofFunction % (namedEvery * knownEvery) === 0) calls.push({ ref, id, at });
  return { ...line, text: `call ${id} ${text}` };
}
