import { spawn, type ChildProcess } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** How a server ended: its exit code, or the signal. */
export type NatsServerEnd =
  | { readonly code: number }
  | { readonly signal: NodeJS.Signals }
  | { readonly error: string };

/** A server that runs and is healthy. */
export interface RunningNatsServer {
  readonly process: ChildProcess;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<NatsServerEnd>;
}

export interface StartOptions {
  readonly binary: string;
  readonly configFile: string;
  readonly logFile: string;
  readonly monitorPort: number;
  /** Milliseconds it may take to recover its store and become healthy. */
  readonly timeout: number;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/** A server that did not start; `portTaken` when another program listens on its port. */
export class NatsServerStartError extends Error {
  override readonly name = "NatsServerStartError";
  readonly portTaken: boolean;

  constructor(sentence: string, portTaken: boolean) {
    super(sentence);
    this.portTaken = portTaken;
  }
}

const poll = 20;
const replyTimeout = 2_000;
const tailLength = 8_192;

/**
 * Starts the server in a process group of its own, so that Ctrl-C does not reach it, and waits until its health check
 * says ok. A server that fails to start is ended.
 * @throws NatsServerStartError
 */
export async function startNatsServer(options: StartOptions): Promise<RunningNatsServer> {
  const stderrFile = join(dirname(options.logFile), "nats-server.stderr");
  const output = await open(stderrFile, "w", 0o600);
  const child = spawn(options.binary, ["-c", options.configFile], {
    cwd: dirname(options.configFile),
    detached: true,
    env: {},
    stdio: ["ignore", output.fd, output.fd],
  });
  const ended = new Promise<NatsServerEnd>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? { code: code ?? 0 } : { signal }));
    child.once("error", (err) => resolve({ error: err.message }));
  });
  await output.close();

  const waiting = new AbortController();
  const stop = options.signal === undefined ? waiting.signal : AbortSignal.any([waiting.signal, options.signal]);
  const first = await Promise.race([ended, untilHealthy(options, stop)]);
  waiting.abort();
  if (first === "healthy") return { process: child, ended };

  const cannot = `Cannot start nats-server "${options.binary}"`;
  if (first === "silent") {
    child.kill("SIGKILL");
    await ended;
    const why =
      options.signal?.aborted === true ? "it is being stopped" : `it did not answer in ${options.timeout / 1_000} s`;
    throw new NatsServerStartError(`${cannot}: ${why}; see "${options.logFile}"`, false);
  }
  if ("error" in first) throw new NatsServerStartError(`${cannot}: ${first.error}`, false);
  const why = (await lastError(stderrFile)) ?? (await lastError(options.logFile));
  throw new NatsServerStartError(
    `${cannot}: it ended with ${formatNatsServerEnd(first)}${why === undefined ? "" : ` (${why})`}; see "${options.logFile}"`,
    why?.includes("address already in use") ?? false,
  );
}

/** How a server ended, in words. */
export function formatNatsServerEnd(end: NatsServerEnd): string {
  if ("code" in end) return `exit code ${end.code}`;
  return "signal" in end ? end.signal : end.error;
}

async function untilHealthy(options: StartOptions, stop: AbortSignal): Promise<"healthy" | "silent"> {
  const deadline = performance.now() + options.timeout;
  while (!stop.aborted && performance.now() < deadline) {
    if (await isHealthy(options.monitorPort, stop)) return "healthy";
    await pause(poll);
  }
  return "silent";
}

async function isHealthy(monitorPort: number, stop: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${monitorPort}/healthz`, {
      signal: AbortSignal.any([stop, AbortSignal.timeout(replyTimeout)]),
      headers: { connection: "close" },
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** The last error line of a log, without time and process. */
async function lastError(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = text.slice(-tailLength).split("\n");
  const found =
    lines.findLast((line) => /\[(?:FTL|ERR)\]/.test(line)) ?? lines.findLast((line) => line.startsWith("nats-server:"));
  return found?.replace(/^.*\[(?:FTL|ERR)\]\s*/, "").trim();
}
