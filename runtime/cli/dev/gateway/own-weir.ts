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

/** A call, as the access log of a gateway has it. */
export interface LoggedCall {
  readonly functionName: string;
  readonly namespace: string;
  readonly callId: string;
  readonly method: string;
  readonly status: string;
  /** Milliseconds, with a fraction. */
  readonly duration: string;
}

export interface OwnWeirOptions extends PlatformCommand {
  readonly signal: AbortSignal;
  /** Gets what it prints before it is ready, a line each. */
  readonly progress: (line: string) => void;
  /** Gets the address of its console, if it has one. */
  readonly onConsole: (address: string) => void;
  /** Gets each call of a function after it has ended. */
  readonly onCall: (call: LoggedCall) => void;
  /** Gets what ends it and waits until it is gone; called before it serves. */
  readonly onClose: (close: () => Promise<void>) => void;
}

const keptLines = 20;
/** Milliseconds after which it is told a second time, and killed: calls and queued runs are waited for. */
const stopAfter = { second: 3_000, kill: 10_000 } as const;
/** How a Weir says that it is ready, before its address. */
const readyLine = /^Weir \S+ is ready$/;
const addressLine = /^ {2}address +(https?:\/\/\S+)$/;
const consoleLine = /^ {2}console +(https?:\/\/\S+)$/;
const callLine =
  /^\S+ {2}call {2}(?<functionName>[^\s.]+)\.(?<namespace>\S+) {2}callId=(?<callId>\S+) {2}method=(?<method>\S+) {2}status=(?<status>\d+) {2}duration=(?<duration>[\d.]+)ms/;

/**
 * Starts a Weir; resolves when it serves.
 * @throws CliError exit code 5 when it ends before, 130 when `signal` aborts
 */
export async function startOwnWeir(options: OwnWeirOptions): Promise<OwnWeir> {
  const { args, command, directory, environment, onCall, onClose, onConsole, progress, signal } = options;
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
      if (!isReady) return read(line);
      const page = consoleLine.exec(line)?.[1];
      if (page !== undefined) onConsole(page);
      return;
    }
    isReady = true;
    lastLines.length = 0;
    ready.resolve(address);
  };
  const readLog = (line: string): void => {
    const call = endedCall(line);
    if (call === undefined) read(line);
    else onCall(call);
  };
  const outputs = [readLines(child.stdout, readOutput), readLines(child.stderr, readLog)];
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

/** The call that a line of the access log is about; undefined for any other line. */
export function endedCall(line: string): LoggedCall | undefined {
  const { functionName, namespace, callId, method, status, duration } = callLine.exec(line)?.groups ?? {};
  if (functionName === undefined || namespace === undefined || callId === undefined) return undefined;
  if (method === undefined || status === undefined || duration === undefined) return undefined;
  return { functionName, namespace, callId, method, status, duration };
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
