import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import pino from "pino";
import { expect, test } from "vitest";

import { ConsoleFiles } from "../../../../runtime/gateway/console-port/console-files.ts";
import { warnNotBuilt } from "../../../../runtime/gateway/console-port/warn-not-built.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

test("a start without a built console says so, with the command; one with it says nothing", async () => {
  await using directory = await tempDirectory("not-built");
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });

  await warnNotBuilt(new ConsoleFiles(directory.path), log);

  expect(lines).toMatchObject([
    { level: 40, msg: "console has no pages", err: { message: expect.stringContaining("npm run console") } },
  ]);
  await writeFile(join(directory.path, "files.json"), "[]");
  await warnNotBuilt(new ConsoleFiles(directory.path), log);
  expect(lines).toHaveLength(1);

  await writeFile(join(directory.path, "files.json"), "[");
  await warnNotBuilt(new ConsoleFiles(directory.path), log);
  expect(lines).toHaveLength(2);
});
