import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { tempDirectory } from "../../support/temp-directory.ts";

test("a temporary directory is for its owner alone, and is removed with its content", async () => {
  const directory = await tempDirectory("support");
  mkdirSync(join(directory.path, "deep"));
  writeFileSync(join(directory.path, "deep", "file"), "content");
  expect(statSync(directory.path).mode & 0o777).toBe(0o700);

  await directory.remove();
  expect(existsSync(directory.path)).toBe(false);
  await directory.remove();
});

test("it is removed at the end of its block", async () => {
  let path: string;
  {
    await using directory = await tempDirectory();
    path = directory.path;
    expect(existsSync(path)).toBe(true);
  }
  expect(existsSync(path)).toBe(false);
});
