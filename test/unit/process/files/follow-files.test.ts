import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { followFiles, textIfThere } from "../../../../runtime/process/files/follow-files.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let place: TempDirectory;
let files: readonly [string, string];
let now: number;

beforeEach(async () => {
  place = await tempDirectory("follow-files");
  files = [join(place.path, "a"), join(place.path, "b")];
  now = 0;
});
afterEach(() => place.remove());

const follow = () =>
  followFiles(
    files,
    () => {
      const texts = files.map(textIfThere);
      if (texts.includes("bad")) throw new Error("bad text");
      return texts.map((text) => text ?? "missing");
    },
    () => now,
  );

test("reads all files again when one of them has changed, came or went, at most once a second", async () => {
  await writeFile(files[0], "one");
  const read = follow();
  expect(read()).toEqual(["one", "missing"]);
  await writeFile(files[1], "two");
  now = 999;
  expect(read()).toEqual(["one", "missing"]);
  now = 1_000;
  expect(read()).toEqual(["one", "two"]);
  await rm(files[0]);
  now = 2_000;
  expect(read()).toEqual(["missing", "two"]);
});

test("does not parse files again that have not changed", async () => {
  await writeFile(files[0], "one");
  const read = follow();
  const first = read();
  now = 5_000;
  expect(read()).toBe(first);
});

test("keeps the previous value while the files cannot be parsed", async () => {
  await writeFile(files[0], "one");
  const read = follow();
  await writeFile(files[0], "bad");
  now = 1_000;
  expect(read()).toEqual(["one", "missing"]);
  await writeFile(files[0], "good");
  now = 2_000;
  expect(read()).toEqual(["good", "missing"]);
});

test("fails at the start when they cannot be parsed", async () => {
  await writeFile(files[1], "bad");
  expect(follow).toThrow("bad text");
});
