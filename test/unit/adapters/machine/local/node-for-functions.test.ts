import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

import { isReachable, nodeForFunctions } from "../../../../../runtime/adapters/machine/local/node-for-functions.ts";
import { tempDirectory } from "../../../../support/temp-directory.ts";

test("a program below a closed directory is copied to where all users can reach it", async () => {
  await using directory = await tempDirectory("node");
  await chmod(directory.path, 0o711);
  const closed = join(directory.path, "closed");
  await mkdir(closed, { mode: 0o700 });
  const program = join(closed, "node");
  await writeFile(program, "program", { mode: 0o755 });
  expect(await isReachable(program)).toBe(false);

  const copy = await nodeForFunctions(join(directory.path, "bin"), program);
  expect(copy).toBe(join(directory.path, "bin", "node"));
  expect(await isReachable(copy)).toBe(true);
  expect((await stat(copy)).size).toBe(7);
});

test("a program that all users can reach is used in place", async () => {
  await using directory = await tempDirectory("node");
  await chmod(directory.path, 0o711);
  const program = join(directory.path, "node");
  await writeFile(program, "program", { mode: 0o755 });

  expect(await nodeForFunctions(join(directory.path, "bin"), program)).toBe(program);
});
