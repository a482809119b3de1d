import { spawn, type ChildProcess } from "node:child_process";
import { open, readFile, stat } from "node:fs/promises";
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

/** A stream in the store that the server could not recover, and why: a part of a sentence. */
export interface UnrecoveredStream {
  readonly stream: string;
  readonly reason: string;
}

/**
 * A server that did not start; `portTaken` when another program listens on its port. `unrecovered` names the streams
 * without which it would have started.
 */
export class NatsServerStartError extends Error {
  override readonly name = "NatsServerStartError";
  readonly portTaken: boolean;
  readonly unrecovered: readonly UnrecoveredStream[];

  constructor(sentence: string, portTaken: boolean, unrecovered: readonly UnrecoveredStream[] = []) {
    super(sentence);
    this.portTaken = portTaken;
    this.unrecovered = unrecovered;
  }
}

const poll = 20;
const replyTimeout = 2_000;
const endTimeout = 8_000;
const tailLength = 8_192;

/**
 * Starts the server in a process group of its own, so that Ctrl-C does not reach it, and waits until its health check
 * says ok. A server that fails to start, or cannot recover all of its streams, is ended.
 * @throws NatsServerStartError
 */
export async function startNatsServer(options: StartOptions): Promise<RunningNatsServer> {
  const stderrFile = join(dirname(options.logFile), "nats-server.stderr");
  const output = await open(stderrFile, "w", 0o600);
  const logged = (await stat(options.logFile).catch(() => undefined))?.size ?? 0;
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
  if ("streams" in first) {
    child.kill("SIGTERM");
    const slow = setTimeout(() => child.kill("SIGKILL"), endTimeout);
    await ended;
    clearTimeout(slow);
    const unrecovered = await withReasons(first.streams, options.logFile, logged);
    const named = unrecovered.map(({ stream, reason }) => `stream "${stream}" (${reason})`).join(", ");
    throw new NatsServerStartError(`${cannot}: it cannot recover ${named}`, false, unrecovered);
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

/** Or the streams that it could not recover. */
type Health = "healthy" | "silent" | { readonly streams: readonly string[] };

async function untilHealthy(options: StartOptions, stop: AbortSignal): Promise<Health> {
  const deadline = performance.now() + options.timeout;
  while (!stop.aborted && performance.now() < deadline) {
    const health = await askHealth(options.monitorPort, stop);
    if (health !== "silent") return health;
    await pause(poll);
  }
  return "silent";
}

/** The names of streams only once the server accepts connections: it tries to recover them before that. */
async function askHealth(monitorPort: number, stop: AbortSignal): Promise<Health> {
  try {
    const response = await fetch(`http://127.0.0.1:${monitorPort}/healthz?details=true`, {
      signal: AbortSignal.any([stop, AbortSignal.timeout(replyTimeout)]),
      headers: { connection: "close" },
    });
    if (response.ok) {
      await response.body?.cancel();
      return "healthy";
    }
    const { errors = [] } = (await response.json()) as { readonly errors?: readonly HealthError[] };
    const streams = errors.flatMap(({ stream, error }) =>
      stream !== undefined && error?.endsWith("could not be recovered") === true ? [stream] : [],
    );
    return streams.length > 0 && streams.length === errors.length ? { streams } : "silent";
  } catch {
    return "silent";
  }
}

interface HealthError {
  readonly stream?: string;
  readonly error?: string;
}

/** What the log, from byte `from` on, says last of each stream. */
async function withReasons(
  streams: readonly string[],
  logFile: string,
  from: number,
): Promise<readonly UnrecoveredStream[]> {
  const log = await readFile(logFile).catch(() => Buffer.alloc(0));
  // Shorter: the server began a new file.
  const lines = log
    .subarray(log.length < from ? 0 : from)
    .toString("utf8")
    .split("\n");
  return streams.map((stream) => {
    const line = lines.findLast(
      (each) => /\[(?:WRN|ERR)\]/.test(each) && (each.includes(`/streams/${stream}/`) || each.includes(`"${stream}"`)),
    );
    return { stream, reason: line?.replace(/^.*\[(?:WRN|ERR)\]\s*/, "").trim() ?? "nats-server does not say why" };
  });
}

/** The last error line of a log, without time and process. */
async function lastError(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = text.slice(-tailLength).split("\n");
  const found =
    lines.findLast((line) => /\[(?:FTL|ERR)\]/.test(line)) ?? lines.findLast((line) => line.startsWith("nats-server:"));
  return found?.replace(/^.*\[(?:FTL|ERR)\]\s*/, "").trim();
}
