import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { installedTool } from "../../scripts/debian-tool.ts";
import { eventually } from "./eventually.ts";
import { examples } from "./example-runs.ts";
import { freePort } from "./free-port.ts";
import { isRunningChild, killAtExit } from "./kill-at-exit.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs the server of an example without Weir while `use` sends it requests; it must then end when it is told to. */
export async function withExampleFunction(
  name: string,
  variables: Readonly<Record<string, string>>,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const port = await freePort();
  const worker = join(examples, name, "worker.py");
  const [program, file] = existsSync(worker)
    ? ([installedTool("python3", "python3", say) ?? "python3", worker] as const)
    : ([process.execPath, join(examples, name, "function.ts")] as const);
  const child = spawn(program, [file], {
    env: { ...environment(), ...variables, PORT: String(port) },
    stdio: "ignore",
  });
  killAtExit(child);
  const exited = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  try {
    const isListening = async (): Promise<boolean> => {
      // A stream that nobody reads would keep the server from ending.
      await (await fetch(url)).body?.cancel();
      return true;
    };
    await eventually(isListening, { what: `${name} to listen` });
    await use(url);
  } finally {
    child.kill("SIGTERM");
    await eventually(() => !isRunningChild(child), { what: `${name} to end` }).catch(async (cause) => {
      child.kill("SIGKILL");
      await exited;
      throw cause;
    });
    expect(child.exitCode).toBe(0);
  }
}
