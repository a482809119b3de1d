import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { inject } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { tempDirectory } from "./temp-directory.ts";
import type { WeirProcess } from "./weir-process.ts";

/** How a command line ended. */
export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** Standard input; empty by default. */
  readonly input?: string | Uint8Array;
  /** Added to an environment that has only `HOME` and `PATH`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Working directory; the person's home by default. */
  readonly directory?: string;
  /** Of what it writes; UTF-8 by default. */
  readonly encoding?: "utf8" | "latin1";
  /** Gets its process id as soon as it runs. */
  readonly started?: (pid: number) => void;
}

/** The home of a person who has the command `weir` and nothing else. */
export interface CliHome extends AsyncDisposable {
  readonly home: string;
  /** Runs `weir …` as a process to its end. */
  run(args: readonly string[], options?: CommandOptions): Promise<CommandEnd>;
}

/** The command `weir`, as a program and its first arguments (`cli-setup.ts`). */
export const cliCommand = inject("weirCommand");

/** Makes an empty home; it is removed at the end of an `await using` block. */
export async function openCliHome(): Promise<CliHome> {
  const { path: home, remove } = await tempDirectory("cli-home");
  return { home, run: (args, options) => runCommand(home, args, options), [Symbol.asyncDispose]: remove };
}

/** Environment that leads the command to a Weir, with its administrator's credentials. */
export function gatewayEnvironment({ url, user, data }: WeirProcess): Record<string, string> {
  return {
    WEIR_GATEWAY: url,
    WEIR_USER: user,
    WEIR_PASSWORD_FILE: join(data, "credentials", "basic-auth-password"),
  };
}

async function runCommand(home: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
  const [program, ...first] = cliCommand;
  const child = spawn(program, [...first, ...args], {
    cwd: options.directory ?? home,
    env: { HOME: home, PATH: environment()["PATH"], ...options.environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  killAtExit(child);
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding(options.encoding ?? "utf8").on("data", (text: string) => (written[name] += text));
  if (child.pid !== undefined) options.started?.(child.pid);
  // A command that reads no input may end before it is written.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...written };
}
