import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { tempDirectory } from "../../test/support/temp-directory.ts";
import { findTool } from "../../scripts/debian-tool.ts";
import { openServer, type Server } from "../background.ts";
import { BenchSkipped } from "../bench-row.ts";
import { pinned } from "../tools.ts";

const run = promisify(execFile);

/**
 * Builds the Go program of `folder` and runs it on one core.
 * @throws BenchSkipped when Go is not installed
 */
export async function openGoServer(
  folder: "go-function" | "go-proxy",
  core: number,
  ...args: readonly string[]
): Promise<Server> {
  const go = findTool("go");
  if (go === undefined) throw new BenchSkipped('"go" is not to be had (https://go.dev/dl)');
  const directory = await tempDirectory("bench-go");
  const program = join(directory.path, folder);
  try {
    await run(go, ["build", "-o", program, "."], { cwd: join(import.meta.dirname, folder) });
    const server = await openServer(pinned(core, [program, ...args]));
    const close = async (): Promise<void> => {
      await server.close();
      await directory.remove();
    };
    return { port: server.port, close };
  } catch (err) {
    await directory.remove();
    throw err;
  }
}
