import { constants } from "node:os";

import { Lifecycle } from "./lifecycle.ts";
import type { Log } from "./log.ts";

export interface ServiceOptions {
  readonly log: Log;
  /** Milliseconds the whole close may take before the process ends anyway. */
  readonly drainTimeout: () => number;
  /** Opens everything; an error ends the process with code 1 after the close. `stop` aborts when the stop begins. */
  readonly open: (lifecycle: Lifecycle, stop: AbortSignal) => Promise<void>;
  /** Called at the first signal, before anything is closed. */
  readonly onStop?: () => void;
  /** Reports why the start failed, for a person at a terminal. */
  readonly reportFailure?: (err: unknown) => void;
}

const flushTimeout = 500;
/** Milliseconds for ending children and what they leave behind after a second signal. */
const endNowTimeout = 5_000;
/** npm forwards a Ctrl-C that the terminal sent to both: within this time, a further signal counts as the same one. */
const sameSignal = 500;

/**
 * The life of a process: open, serve until SIGTERM, SIGINT or the terminal's SIGHUP, close in reverse, exit. A second
 * signal ends it at once with the code that shells know (130 after Ctrl-C), the drain timeout with code 1. Resolves
 * when opening is over, and the process exits later.
 */
export async function runService(options: ServiceOptions): Promise<void> {
  const { log } = options;
  const lifecycle = new Lifecycle(log);
  const stop = new AbortController();
  let stopping = false;
  let stoppedAt = 0;
  /** The exit code after a second signal. */
  let endNowCode: number | undefined;

  const end = async (code: number): Promise<void> => {
    const drainTimeout = options.drainTimeout();
    const deadline = setTimeout(() => {
      log.error({ drainTimeout }, "closing took too long");
      exit(log, 1);
    }, drainTimeout);
    await lifecycle.close();
    clearTimeout(deadline);
    if (endNowCode === undefined) exit(log, code);
  };
  const endNow = async (code: number): Promise<void> => {
    endNowCode = code;
    setTimeout(() => exit(log, code), endNowTimeout);
    await lifecycle.endNow();
    exit(log, code);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      // Shell and system both send a SIGHUP when a terminal closes.
      if (signal === "SIGHUP" || performance.now() - stoppedAt < sameSignal) return;
      if (endNowCode !== undefined) return;
      log.warn({ signal }, "second signal, ending at once");
      void endNow(128 + constants.signals[signal]);
      return;
    }
    stopping = true;
    stoppedAt = performance.now();
    log.info({ signal }, "stopping");
    options.onStop?.();
    stop.abort();
    void end(0);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, onSignal);
  // Writing to a terminal that is gone fails; that must not prevent the close.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  process.on("unhandledRejection", (err) => {
    log.fatal({ err }, "unhandled rejection");
    exit(log, endNowCode ?? 1);
  });

  try {
    await options.open(lifecycle, stop.signal);
  } catch (err) {
    // A failure that the stop caused is not a failed start.
    if (stopping) return;
    stopping = true;
    stop.abort();
    if (options.reportFailure === undefined) log.fatal({ err }, "cannot start");
    else options.reportFailure(err);
    await end(1);
  }
}

function exit(log: Log, code: number): void {
  log.flush(() => process.exit(code));
  // A log that cannot be written never reports that it is flushed.
  setTimeout(() => process.exit(code), flushTimeout);
}
