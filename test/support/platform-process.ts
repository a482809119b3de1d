import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "./eventually.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { platformProgram } from "./platform-programs.ts";

export interface PlatformProcessOptions {
  /** Shown in failures, e.g. `queue-worker 2`. */
  readonly name: string;
  /** Below the repository, e.g. `runtime/gateway/main.ts`. */
  readonly main: string;
  /** Called at every start, so that a restart can keep the port of the first one. */
  readonly flags: () => readonly string[];
  /** Modules that Node loads before the main one; `file:` URLs. */
  readonly preload?: () => readonly string[];
  /** Node's own options. */
  readonly node?: readonly string[];
  /** Message of the log line that says it is ready. */
  readonly readyMessage: string;
  /** Milliseconds until that line (40 000). */
  readonly readyWithin?: number;
}

/** One line of a process's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** How a process ended, and when (monotonic milliseconds). */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly at: number;
}

/** What a process holds right after a garbage collection. */
export interface Holdings {
  /** Bytes. */
  readonly memory: number;
  readonly descriptors: number;
}

/** One process of a platform; it may be ended and started again, each time with a new process id. */
export interface PlatformProcess {
  readonly name: string;
  /** Of the last start. */
  readonly pid: number;
  readonly running: boolean;
  /** Fields of the last ready line, such as `port` and `adminPort`. */
  readonly ready: LogLine;
  /** Of all starts. */
  readonly log: readonly LogLine[];
  /** Unexpected ends and fatal log lines, one sentence each. */
  readonly mishaps: readonly string[];
  start(): Promise<void>;
  /** For commands: starts it and resolves when it has logged its message and ended with code 0. */
  run(): Promise<void>;
  /** Sends SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves when it is gone. An exit code but 0 is a mishap. `within` in milliseconds (60 000). */
  stop(within?: number): Promise<ProcessEnd>;
  /** Resolves when its fault plan has ended it by SIGKILL; `within` in milliseconds (60 000). */
  dies(within?: number): Promise<void>;
  pause(): void;
  resume(): void;
  measure(): Promise<Holdings>;
}

const repository = fileURLToPath(new URL("../..", import.meta.url));
const fatal = 60;
const startTimeout = 40_000;
const measureModule = new URL("preload/measure.ts", import.meta.url).href;

/** Nothing runs before `start`. */
export function platformProcess(options: PlatformProcessOptions): PlatformProcess {
  const log: LogLine[] = [];
  const mishaps: string[] = [];
  let child: ChildProcess | undefined;
  let end: ProcessEnd | undefined;
  let expected = false;
  /** An end that is not expected yet: a fault plan may act before the test calls `dies`. */
  let unexpectedEnd: string | undefined;
  let ready: LogLine = {};

  const record = (line: string): void => {
    const parsed = parseLine(line);
    log.push(parsed);
    if (Number(parsed["level"]) >= fatal) mishaps.push(`${options.name} said: ${line}`);
  };
  const signal = (name: NodeJS.Signals): void => {
    if (child !== undefined && end === undefined) child.kill(name);
  };
  const untilEnd = (within: number) => eventually(() => end, { within, every: 5, what: `${options.name} to end` });

  const start = async (): Promise<void> => {
    const seen = log.length;
    const preload = [measureModule, ...(options.preload?.() ?? [])].flatMap((module) => ["--import", module]);
    const main = await platformProgram(options.main);
    const { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS } = environment();
    const started = spawn(
      process.execPath,
      ["--expose-gc", ...(options.node ?? []), ...preload, main, ...options.flags()],
      {
        cwd: repository,
        // The last one has the condition under which buffers that were given back are overwritten.
        env: { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    if (unexpectedEnd !== undefined) mishaps.push(unexpectedEnd);
    child = started;
    end = unexpectedEnd = undefined;
    expected = false;
    eachLine(started, record);
    killAtExit(started);
    started.once("exit", (code, name) => {
      end = { code, signal: name, at: performance.now() };
      if (!expected) unexpectedEnd = `${options.name} ended by itself (${code ?? name})\n${tail(log)}`;
    });
    ready = await eventually(
      () => {
        const line = log.slice(seen).find(({ msg }) => msg === options.readyMessage);
        if (line === undefined && end !== undefined) throw new Error(`${options.name} ended\n${tail(log)}`);
        return line;
      },
      { within: options.readyWithin ?? startTimeout, what: `${options.name} to be ready` },
    );
  };

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
    get mishaps() {
      return unexpectedEnd === undefined ? mishaps : [...mishaps, unexpectedEnd];
    },
    start,
    run: async () => {
      await start();
      expected = true;
      const ended = await untilEnd(startTimeout);
      if (ended.code !== 0) throw new Error(`${options.name} ended with ${ended.code ?? ended.signal}\n${tail(log)}`);
    },
    kill: async () => {
      expected = true;
      signal("SIGKILL");
      if (child !== undefined) await untilEnd(10_000);
    },
    stop: async (within = 60_000) => {
      expected = true;
      signal("SIGTERM");
      signal("SIGCONT");
      const ended = await untilEnd(within);
      if (ended.code !== 0)
        mishaps.push(`${options.name} ended with ${ended.code ?? ended.signal} after SIGTERM\n${tail(log)}`);
      return ended;
    },
    dies: async (within = 60_000) => {
      expected = true;
      const ended = await untilEnd(within);
      unexpectedEnd = undefined;
      if (ended.signal !== "SIGKILL")
        mishaps.push(`${options.name} ended with ${ended.code ?? ended.signal} and not by SIGKILL\n${tail(log)}`);
    },
    measure: async () => {
      const seen = log.length;
      signal("SIGUSR2");
      const line = await eventually(() => log.slice(seen).find(({ msg }) => msg === "measured"), {
        what: `${options.name} to be measured`,
      });
      return { memory: Number(line["memory"]), descriptors: Number(line["descriptors"]) };
    },
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
  };
}

function eachLine(child: ChildProcess, onLine: (line: string) => void): void {
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") onLine(line);
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
