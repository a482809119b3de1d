import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

import { environment } from "../../runtime/process/settings.ts";
import { cliCommand, type CliHome } from "./cli-home.ts";
import { killAtExit } from "./kill-at-exit.ts";

/** A command line that runs: what a test reads of it, and when, is its own affair. */
export interface RunningCommand extends AsyncDisposable {
  readonly pid: number;
  /** Nothing is read of it until somebody does. */
  readonly stdout: Readable;
  readonly stderr: () => string;
  /** Its exit code; null when it was killed. */
  readonly end: Promise<number | null>;
  /** As Ctrl-C. */
  interrupt(): void;
}

/** Starts `weir …` without input; it is killed at the end of an `await using` block if it still runs. */
export function startCommand(
  { home }: CliHome,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  directory = home,
): RunningCommand {
  const [program, ...first] = cliCommand;
  const child = spawn(program, [...first, ...args], {
    cwd: directory,
    env: { HOME: home, PATH: environment()["PATH"], ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  killAtExit(child);
  const { pid } = child;
  if (pid === undefined) throw new Error("Cannot start weir: no process was made");
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const end = once(child, "exit").then(([code]) => code as number | null);
  return {
    pid,
    stdout: child.stdout,
    stderr: () => stderr,
    end,
    interrupt: () => void child.kill("SIGINT"),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      child.stdout.destroy();
      await end;
    },
  };
}
