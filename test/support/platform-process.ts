import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "./eventually.ts";

export interface PlatformProcessOptions {
  /** Shown in failures, e.g. `queue-worker 2`. */
  readonly name: string;
  /** Below the repository, e.g. `runtime/gateway/main.ts`. */
  readonly main: string;
  /** Asked for at every start, so that a restart can keep the port of the first one. */
  readonly flags: () => readonly string[];
  /** Message of the log line that says it is ready. */
  readonly readyMessage: string;
}

/** One line of a process's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** How a process ended, and when (monotonic milliseconds). */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly at: number;
}

/** One process of a platform; it may be ended and started again, each time with a process id of its own. */
export interface PlatformProcess {
  readonly name: string;
  /** Of the last start. */
  readonly pid: number;
  readonly running: boolean;
  /** Fields of the last ready line, such as `port` and `adminPort`. */
  readonly ready: LogLine;
  /** Of all starts. */
  readonly log: readonly LogLine[];
  /** Ends and lines that nobody asked for, one sentence each. */
  readonly mishaps: readonly string[];
  start(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when it is gone, which is a mishap unless the exit code is 0. `within` in milliseconds (20 000). */
  stop(within?: number): Promise<ProcessEnd>;
  pause(): void;
  resume(): void;
}

const repository = fileURLToPath(new URL("../..", import.meta.url));
const fatal = 60;
const startTimeout = 20_000;

/** Nothing runs before `start`. */
export function platformProcess(options: PlatformProcessOptions): PlatformProcess {
  const log: LogLine[] = [];
  const mishaps: string[] = [];
  let child: ChildProcess | undefined;
  let end: ProcessEnd | undefined;
  let expected = false;
  let ready: LogLine = {};

  const note = (line: string): void => {
    const parsed = parseLine(line);
    log.push(parsed);
    if (Number(parsed["level"]) >= fatal) mishaps.push(`${options.name} said: ${line}`);
  };
  const killAtExit = (): void => void child?.kill("SIGKILL");
  const signal = (name: NodeJS.Signals): void => {
    if (child !== undefined && end === undefined) child.kill(name);
  };
  const gone = (within: number) => eventually(() => end, { within, every: 5, what: `${options.name} to end` });

  return {
    name: options.name,
    get pid() {
      return child?.pid ?? 0;
    },
    get running() {
      return child !== undefined && end === undefined;
    },
    get ready() {
      return ready;
    },
    log,
    mishaps,
    start: async () => {
      const seen = log.length;
      const started = spawn(process.execPath, [join(repository, options.main), ...options.flags()], {
        cwd: repository,
        env: { PATH: environment()["PATH"] },
        stdio: ["ignore", "ignore", "pipe"],
      });
      child = started;
      end = undefined;
      expected = false;
      eachLine(started, note);
      process.once("exit", killAtExit);
      started.once("exit", (code, name) => {
        process.off("exit", killAtExit);
        end = { code, signal: name, at: performance.now() };
        if (!expected) mishaps.push(`${options.name} ended by itself (${code ?? name})\n${tail(log)}`);
      });
      ready = await eventually(
        () => {
          if (end !== undefined) throw new Error(`${options.name} ended\n${tail(log)}`);
          return log.slice(seen).find((line) => line["msg"] === options.readyMessage);
        },
        { within: startTimeout, what: `${options.name} to be ready` },
      );
    },
    kill: async () => {
      expected = true;
      signal("SIGKILL");
      if (child !== undefined) await gone(10_000);
    },
    stop: async (within = 20_000) => {
      expected = true;
      signal("SIGTERM");
      signal("SIGCONT");
      const ended = await gone(within);
      if (ended.code !== 0)
        mishaps.push(`${options.name} ended with ${ended.code ?? ended.signal} after SIGTERM\n${tail(log)}`);
      return ended;
    },
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
  };
}

function eachLine(child: ChildProcess, take: (line: string) => void): void {
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") take(line);
  });
}

function parseLine(line: string): LogLine {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : { msg: line };
  } catch {
    return { msg: line };
  }
}

function tail(log: readonly LogLine[]): string {
  return log
    .slice(-8)
    .map((line) => JSON.stringify(line))
    .join("\n");
}
