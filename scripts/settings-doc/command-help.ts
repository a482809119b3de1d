import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { WrittenFile } from "../written-file.ts";
import { helpPage, runPrograms } from "./run-programs.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The `--help` output of the commands, shown before anything is installed. */
export async function commandHelp(host: string): Promise<WrittenFile[]> {
  const programs = (await runPrograms()).map(({ program }) => program).filter((program) => program !== host);
  const run = promisify(execFile);
  return Promise.all(
    programs.map(async (program) => {
      // Without the environment, whose values would appear as defaults.
      const { stdout } = await run(process.execPath, [program, "--help"], { cwd: root, env: {} });
      return { path: helpPage(program), text: stdout };
    }),
  );
}
