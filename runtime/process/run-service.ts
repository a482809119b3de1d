import { constants } from "node:os";

import { Lifecycle } from "./lifecycle.ts";
import type { Log } from "./log.ts";

export interface ServiceOptions {
  readonly log: Log;
  /** Milliseconds the whole closing may take before the process ends all the same. */
  readonly drainTimeout: () => number;
  /** Opens everything; what it throws ends the process with code 1 after closing what was open. `stop` aborts when the end begins. */
  readonly open: (lifecycle: Lifecycle, stop: AbortSignal) => Promise<void>;
  /** Hears the first signal, before anything is closed. */
  readonly onStop?: () => void;
  /** Says in one line why the start failed, for a person at a terminal. */
  readonly reportFailure?: (err: unknown) => void;
}

const flushTimeout = 500;
/** Milliseconds that children and what they leave behind get to be gone after a second signal. */
const hurry = 5_000;
/** npm passes on a Ctrl-C that the terminal has sent to both: within this time a signal is the same one again. */
const sameSignal = 500;

/**
 * The life of a process: open, serve until SIGTERM, SIGINT or the terminal's SIGHUP, close in reverse, exit. A second
 * signal ends it at once with the code that shells know (130 after Ctrl-C), the drain timeout with code 1. Resolves never;
 * the process exits.
 */
export async function runService(options: ServiceOptions): Promise<void> {
  const { log } = options;
  const lifecycle = new Lifecycle(log);
  const stop = new AbortController();
  let stopping = false;
  let stoppedAt = 0;
  /** Of a second signal. */
  let hurriedCode: number | undefined;

  const end = async (code: number): Promise<void> => {
    const drainTimeout = options.drainTimeout();
    const deadline = setTimeout(() => {
      log.error({ drainTimeout }, "closing took too long");
      exit(log, 1);
    }, drainTimeout);
    await lifecycle.close();
    clearTimeout(deadline);
    if (hurriedCode === undefined) exit(log, code);
  };
  const endNow = async (code: number): Promise<void> => {
    hurriedCode = code;
    setTimeout(() => exit(log, code), hurry);
    await lifecycle.endNow();
    exit(log, code);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      // Shell and system both send one when a terminal closes.
      if (signal === "SIGHUP" || performance.now() - stoppedAt < sameSignal) return;
      if (hurriedCode !== undefined) return;
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
  // A terminal that is gone cannot be written to; that must not keep anything from being closed.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  process.on("unhandledRejection", (err) => {
    log.fatal({ err }, "unhandled rejection");
    exit(log, hurriedCode ?? 1);
  });

  try {
    await options.open(lifecycle, stop.signal);
  } catch (err) {
    // What fails because it is being closed is no failure of the start.
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
  // A log that cannot be written to never says that it is flushed.
  setTimeout(() => process.exit(code), flushTimeout);
}
