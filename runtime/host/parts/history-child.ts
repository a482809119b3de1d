import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

/** How the history process ended. */
export interface HistoryEnd {
  /** Its exit code or signal, in words. */
  readonly how: string;
  /** The last line of its log; undefined if it wrote none. */
  readonly lastLine: string | undefined;
  /** Whether it had run for a while. */
  readonly wasStable: boolean;
  /** Milliseconds until it is started again. */
  readonly restartIn: number;
}

export interface HistoryChildOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Gets each line of its log. */
  readonly onLine: (line: string) => void;
  /** Called when it ended without being asked to. */
  readonly onEnd: (end: HistoryEnd) => void;
}

const firstRestart = 250;
const longestRestart = 30_000;
/** Milliseconds of uptime after which the back-off begins again at its shortest delay. */
const stableAfter = 30_000;
const stopTimeout = 3_000;
/** Milliseconds until it is gone after SIGKILL: others are to be ended as well, also if the kernel cannot end this one. */
const killTimeout = 1_000;
/** A tenth of the processor that a busy process of this machine has: calls come first, but reads do not starve. */
const niceness = 10;
/** Milliseconds for lines that were written just before its end. */
const linesTimeout = 500;

/**
 * The history process as a child, which is started again when it ends, until it is closed. It runs in a process group of
 * its own, so that Ctrl-C does not reach it, at a lower priority than this process, and ends when this process does:
 * its standard input is a pipe from here.
 */
export class HistoryChild {
  readonly #options: HistoryChildOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #isClosing = false;
  #failures = 0;
  #further: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HistoryChildOptions) {
    this.#options = options;
  }

  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it with further arguments, without waiting for it; does nothing once it was closed. */
  start(further: readonly string[] = this.#further): void {
    if (this.#isClosing) return;
    this.#further = further;
    const [program = "", ...args] = [...this.#options.command, ...further];
    const child = spawn(program, args, {
      cwd: this.#options.directory,
      env: { ...this.#options.environment },
      detached: true,
      stdio: ["pipe", "ignore", "pipe"],
    });
    this.#child = child;
    this.#ended = this.#follow(child, performance.now());
    lowerPriority(child);
  }

  /** Ends it with SIGTERM, after 3 s with SIGKILL, and waits until it is gone. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    const deadline = setTimeout(() => this.kill(), stopTimeout);
    this.#child?.kill("SIGTERM");
    await this.#ended;
    clearTimeout(deadline);
  }

  /** Ends it and its own children by force; it is not started again. */
  kill(): void {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // No process of the group is left.
    }
  }

  /** Ends it by force, and waits until it is gone, for a second at most. */
  async endNow(): Promise<void> {
    this.kill();
    await Promise.race([this.#ended, pause(killTimeout, undefined, { ref: false })]);
  }

  async #follow(child: ChildProcess, startedAt: number): Promise<void> {
    let lastLine: string | undefined;
    const lines = readLines(child, (line) => {
      lastLine = line;
      this.#options.onLine(line);
    });
    const how = await endOf(child);
    this.#child = undefined;
    await lines;
    if (this.#isClosing) return;
    const wasStable = performance.now() - startedAt > stableAfter;
    if (wasStable) this.#failures = 0;
    const restartIn = Math.min(firstRestart * 2 ** this.#failures, longestRestart);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.start(), restartIn);
    this.#options.onEnd({ how, lastLine, wasStable, restartIn });
  }
}

/**
 * It has a session of its own. Where Linux shares the processor by session first (autogroups, sched(7)), its niceness
 * counts within the session alone, and that of the session beside others.
 */
function lowerPriority({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, niceness);
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // It has ended, or the system does not allow it, or has no such groups.
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (err) => child.pid === undefined && resolve(err.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    // Writing to a pipe whose reader is gone.
    child.stdin?.on("error", () => {});
  });
}

/** Resolves when all lines were read, or some time after the end if a process it left behind holds the pipe open. */
async function readLines(child: ChildProcess, onLine: (line: string) => void): Promise<void> {
  const { stderr } = child;
  if (stderr === null) return;
  const lines = createInterface({ input: stderr, crlfDelay: Number.POSITIVE_INFINITY });
  const giveUp = (): void => {
    stderr.destroy();
    // A destroyed input is no end of it.
    lines.close();
  };
  child.once("exit", () => setTimeout(giveUp, linesTimeout).unref());
  try {
    for await (const line of lines) if (line !== "") onLine(line);
  } catch {
    // It was destroyed.
  }
}
