import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Gets each line of its stdout and stderr. */
  readonly onLine?: (line: string) => void;
}

/** How a child process ended. */
export type ChildEnd =
  | { readonly kind: "ended"; readonly code: number; readonly stdout: string; readonly lastLines: readonly string[] }
  /** It is not installed, or may not be run. */
  | { readonly kind: "not-started"; readonly reason: string };

/** Lines that are kept for the report of a failure. */
const keptLines = 20;
/** Milliseconds that a process gets to end by itself after Ctrl-C. */
const grace = 100;

/**
 * Runs a program to its end, without input. When `signal` aborts, it and the processes that it started are ended.
 * @throws CliError exit code 130 when `signal` aborts
 */
export async function runChild({ command, args, environment, signal, onLine }: ChildCommand): Promise<ChildEnd> {
  if (signal.aborted) throw interrupted();
  const child = spawn(command, args, {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, which is ended as a whole.
    detached: true,
  });
  const ended = new Promise<number | NodeJS.ErrnoException>((end) => {
    child.once("error", end);
    child.once("exit", (code, name) => end(code ?? (name === null ? 1 : 128)));
  });
  const end = (name: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // It is gone.
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const abort = (): void => {
    end("SIGTERM");
    timer = setTimeout(() => end("SIGKILL"), grace);
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    const lastLines: string[] = [];
    const keep = (line: string): void => {
      if (lastLines.push(line) > keptLines) lastLines.shift();
      onLine?.(line);
    };
    const output: string[] = [];
    const read = Promise.all([
      readLines(child.stdout, (line) => {
        output.push(line);
        keep(line);
      }),
      readLines(child.stderr, keep),
    ]);
    const code = await ended;
    if (signal.aborted) {
      end("SIGKILL");
      throw interrupted();
    }
    if (typeof code !== "number")
      return { kind: "not-started", reason: code.code === "ENOENT" ? "not installed" : code.message };
    await read;
    return { kind: "ended", code, stdout: output.join("\n"), lastLines };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

async function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) onLine(line);
  } catch {
    // It was destroyed at the end.
  }
}

function interrupted(): CliError {
  return new CliError(exitCode.interrupted, "Interrupted");
}
