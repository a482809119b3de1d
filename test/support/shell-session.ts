import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { inspect } from "node:util";

import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "./eventually.ts";
import { killAtExit } from "./kill-at-exit.ts";

export interface ShellAnswer {
  readonly stdout: string;
  readonly stderr: string;
  /** Exit code of the last command. */
  readonly code: number;
}

/** A real shell that keeps its variables from one block of commands to the next, as a terminal does. */
export interface ShellSession extends AsyncDisposable {
  /**
   * Runs commands, whole lines.
   * @throws Error if they take longer than `within` milliseconds (60 000), with what they have written, or end the shell;
   *   also if earlier ones still run
   */
  run(commands: string, within?: number): Promise<ShellAnswer>;
  /** Ends the shell and what it runs. */
  close(): Promise<void>;
}

/** Opens `sh` in a directory. */
export function openShell(options: { readonly directory: string; readonly path?: string }): ShellSession {
  const own = environment();
  const child = spawn("sh", {
    cwd: options.directory,
    env: { ...own, PATH: options.path ?? own["PATH"] },
    stdio: "pipe",
    detached: true,
  });
  killAtExit(child, { group: true });
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      written[name] += text;
    });
  }
  let gone = false;
  child.on("exit", () => {
    gone = true;
  });
  child.stdin.on("error", () => undefined);

  let running: string | undefined;
  const run = async (commands: string, within = 60_000): Promise<ShellAnswer> => {
    if (running !== undefined) throw new Error(`Cannot run "${commands}": the shell still runs "${running}"`);
    running = commands;
    written.stdout = "";
    written.stderr = "";
    const mark = randomUUID();
    const ending = new RegExp(`\\n?${mark} (\\d+)\\n$`);
    // The commands must not read the session's input, as they would consume what follows.
    child.stdin.write(`{\n${commands}\n} </dev/null\nprintf '\\n${mark} %s\\n' "$?"\n`);
    const code = await eventually(
      () => {
        if (gone) return "gone";
        const ended = ending.exec(written.stdout)?.[1];
        if (ended === undefined) throw new Error(`it has written ${inspect(written)}`);
        return ended;
      },
      { within, what: `the end of: ${commands}` },
    );
    running = undefined;
    if (code === "gone") throw new Error(`Cannot run "${commands}": the shell is gone\n${written.stderr}`);
    return { stdout: written.stdout.replace(ending, ""), stderr: written.stderr, code: Number(code) };
  };
  const close = async (): Promise<void> => {
    if (!gone && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    await eventually(() => gone, { what: "the shell to be gone" });
  };
  return { run, close, [Symbol.asyncDispose]: close };
}
