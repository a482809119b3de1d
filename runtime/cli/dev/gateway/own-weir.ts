import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { CliError } from "../../cli-error.ts";
import { exitCode } from "../../exit-code.ts";
import type { PlatformCommand } from "./platform-command.ts";

/** A Weir that this process started, and ends. */
export interface OwnWeir {
  /** Of its gateway. */
  readonly address: string;
  /** Resolves when it ends, to why: how it ended, and its last lines. */
  readonly ended: Promise<string>;
}

export interface OwnWeirOptions extends PlatformCommand {
  readonly signal: AbortSignal;
  /** Gets what it prints before it is ready, a line each. */
  readonly progress: (line: string) => void;
  /** Gets what ends it and waits until it is gone; called before it serves. */
  readonly onClose: (close: () => Promise<void>) => void;
}

const keptLines = 20;
/** Milliseconds after which it is told a second time, and killed: calls and queued runs are waited for. */
const stopAfter = { second: 3_000, kill: 10_000 } as const;
/** How a Weir says that it is ready, before its address. */
const readyLine = /^Weir \S+ is ready$/;
const addressLine = /^ {2}address +(https?:\/\/\S+)$/;

/**
 * Starts a Weir; resolves when it serves.
 * @throws CliError exit code 5 when it ends before, 130 when `signal` aborts
 */
export async function startOwnWeir(options: OwnWeirOptions): Promise<OwnWeir> {
  const { args, command, directory, environment, onClose, progress, signal } = options;
  const child = spawn(command, args, {
    cwd: directory,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: Ctrl-C reaches it through this process alone, which waits for it.
    detached: true,
  });
  const lastLines: string[] = [];
  const ready = Promise.withResolvers<string>();
  let isReady = false;
  const read = (line: string): void => {
    if (lastLines.push(line) > keptLines) lastLines.shift();
    if (!isReady && line.trim() !== "" && !readyLine.test(line)) progress(line);
  };
  const readOutput = (line: string): void => {
    const address = addressLine.exec(line)?.[1];
    if (address === undefined) {
      // The rest tells a person what to do first.
      if (!isReady) read(line);
      return;
    }
    isReady = true;
    lastLines.length = 0;
    ready.resolve(address);
  };
  const outputs = [readLines(child.stdout, readOutput), readLines(child.stderr, read)];
  const ended = howItEnds(child).then(async (how) => {
    // What it started may keep them open.
    await Promise.race([Promise.all(outputs), once(AbortSignal.timeout(100), "abort")]);
    return [how, ...lastLines].join("\n");
  });
  const stop = (name: NodeJS.Signals): void => sendTo(child, name, !isReady || name === "SIGKILL");
  const abort = (): void => stop("SIGTERM");
  const atExit = (): void => stop("SIGTERM");
  signal.addEventListener("abort", abort, { once: true });
  process.once("exit", atExit);
  onClose(async () => {
    signal.removeEventListener("abort", abort);
    await endChild(child, ended, stop);
    process.removeListener("exit", atExit);
  });
  const first = await Promise.race([ready.promise.then((address) => ({ address })), ended]);
  if (typeof first !== "string") return { address: first.address, ended };
  if (signal.aborted) throw new CliError(exitCode.interrupted, "Interrupted");
  throw new CliError(exitCode.unavailable, `Cannot start Weir: ${first}`);
}

async function endChild(
  child: ChildProcess,
  ended: Promise<string>,
  stop: (name: NodeJS.Signals) => void,
): Promise<void> {
  if (!isRunning(child)) return;
  stop("SIGTERM");
  const timers = [setTimeout(stop, stopAfter.second, "SIGTERM"), setTimeout(stop, stopAfter.kill, "SIGKILL")];
  await ended;
  for (const timer of timers) clearTimeout(timer);
}

/** Until it serves, what installs its packages has to end, too; later it ends its own processes in their order. */
function sendTo(child: ChildProcess, name: NodeJS.Signals, toGroup: boolean): void {
  if (child.pid === undefined || !isRunning(child)) return;
  try {
    process.kill(toGroup ? -child.pid : child.pid, name);
  } catch {
    // It is gone.
  }
}

function isRunning({ exitCode: code, signalCode, pid }: ChildProcess): boolean {
  return pid !== undefined && code === null && signalCode === null;
}

function howItEnds(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (err) => resolve(err.message));
    child.once("exit", (code, name) => resolve(code === null ? `it was ended by ${name}` : `it ended with ${code}`));
  });
}

async function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) onLine(line);
}
