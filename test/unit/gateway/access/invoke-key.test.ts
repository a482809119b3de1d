import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { openInvokeKey } from "../../../../runtime/gateway/access/invoke-key.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

test("accepts the key in the file, also a new one, and none without the file", async () => {
  await using directory = await tempDirectory("key");
  const file = join(directory.path, "invoke-key");
  let now = 0;
  const isKey = openInvokeKey(directory.path, () => now);
  expect(["", "first"].map(isKey)).toEqual([false, false]);

  await writeFile(file, "first\n");
  expect(isKey("first")).toBe(false);
  now += 1_000;
  expect(["first", "firs", "first\n", ""].map(isKey)).toEqual([true, false, false, false]);

  await writeFile(file, "second");
  now += 1_000;
  expect(["first", "second"].map(isKey)).toEqual([false, true]);
  await rm(file);
  now += 1_000;
  expect(isKey("second")).toBe(false);
});
