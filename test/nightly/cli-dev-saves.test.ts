import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { test } from "vitest";

import { expectLastSaveWins, HelloProject, helloRuns, installPlatform, startDev } from "../support/cli-dev.ts";
import { packedProgram } from "../support/cli-program.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** As in `test/e2e/cli/dev.test.ts`, which does 20. */
test("weir dev: 100 saves at random under calls: no call fails, and the last save wins", async () => {
  await using place = await tempDirectory("cli-dev-saves");
  const program = await packedProgram(place.path);
  const [command, ...first] = program;
  await promisify(execFile)(command, [...first, "init", "hello", "--template", "node"], { cwd: place.path });
  const directory = join(place.path, "hello");
  const project = await HelloProject.open(directory);
  await installPlatform(place.path);
  await using dev = startDev({ program, home: place.path, directory });
  await dev.says(helloRuns);
  const gateway = (await readFile(join(directory, ".weir", "address"), "utf8")).trim();
  await expectLastSaveWins({ dev, gateway, project, saves: 100 });
});
