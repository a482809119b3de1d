import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { withoutSymbols } from "../../../scripts/strip-elf.js";
import { elfProgram } from "../../support/elf-program.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const shrink = (bytes: Buffer): Buffer => Buffer.concat(withoutSymbols(bytes) ?? []);

function changed(at: number, write: (bytes: Buffer, at: number) => void): Buffer {
  const bytes = elfProgram(0);
  write(bytes, at);
  return bytes;
}

test("withoutSymbols() removes symbols and their names, and leaves loaded parts in place", () => {
  const program = elfProgram(0, 100_000);
  const slim = shrink(program);
  expect(slim.length).toBeLessThan(program.length - 100_000);
  expect(slim.includes("a_name_that_only_debuggers_read")).toBe(false);
  // The program header and the code, which the program is loaded from.
  expect(slim.subarray(64, 132).equals(program.subarray(64, 132))).toBe(true);
});

test("withoutSymbols() keeps the sections that are loaded, by number and by name", () => {
  const slim = shrink(elfProgram(0));
  const tableAt = Number(slim.readBigUInt64LE(40));
  const types = Array.from({ length: 5 }, (_, index) => slim.readUInt32LE(tableAt + index * 64 + 4));
  expect(types).toEqual([0, 1, 0, 0, 3]);
  const namesAt = Number(slim.readBigUInt64LE(tableAt + 4 * 64 + 24));
  expect(slim.toString("latin1", namesAt, namesAt + 7)).toBe("\0.text\0");
  expect(tableAt + 5 * 64).toBe(slim.length);
});

test("withoutSymbols() gives a program that runs as before", async () => {
  await using place = await tempDirectory("elf");
  const path = join(place.path, "program");
  await writeFile(path, shrink(elfProgram(7)), { mode: 0o755 });
  expect(spawnSync(path).status).toBe(process.platform === "linux" ? 7 : null);
});

test("withoutSymbols() removes nothing a second time", () => {
  expect(withoutSymbols(shrink(elfProgram(0)))).toBeUndefined();
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["a script", Buffer.from("#!/bin/sh\n".repeat(20))],
  ["only a header", elfProgram(0).subarray(0, 64)],
  ["a truncated file", elfProgram(0).subarray(0, 1_000)],
  ["32 bits", changed(4, (bytes, at) => bytes.writeUInt8(1, at))],
  ["big-endian", changed(5, (bytes, at) => bytes.writeUInt8(2, at))],
  ["headers of another size", changed(58, (bytes, at) => bytes.writeUInt16LE(40, at))],
  ["no sections", changed(60, (bytes, at) => bytes.writeUInt16LE(0, at))],
  ["a segment beyond the end", changed(64 + 32, (bytes, at) => bytes.writeBigUInt64LE(2n ** 40n, at))],
  ["a table of sections beyond the end", changed(40, (bytes, at) => bytes.writeBigUInt64LE(2n ** 63n, at))],
])("withoutSymbols() leaves %s alone", (_name, bytes) => {
  expect(withoutSymbols(bytes)).toBeUndefined();
});
