import { Lifecycle } from "./lifecycle.ts";
import type { Log } from "./log.ts";

export interface ServiceOptions {
  readonly log: Log;
  /** Milliseconds the whole closing may take before the process ends all the same. */
  readonly drainTimeout: () => number;
  /** Opens everything; what it throws ends the process with code 1 after closing what was open. `stop` aborts when the end begins. */
  readonly open: (lifecycle: Lifecycle, stop: AbortSignal) => Promise<void>;
  /** Says in one line why the start failed, for a person at a terminal. */
  readonly reportFailure?: (err: unknown) => void;
}

const flushTimeout = 500;
/** npm passes on a Ctrl-C that the terminal has sent to both: within this time a signal is the same one again. */
const sameSignal = 500;

/**
 * The life of a process: open, serve until SIGTERM, SIGINT or the terminal's SIGHUP, close in reverse, exit. A second
 * signal, or the drain timeout, ends it at once with code 1. Resolves never; the process exits.
 */
export async function runService(options: ServiceOptions): Promise<void> {
  const { log } = options;
  const lifecycle = new Lifecycle(log);
  const stop = new AbortController();
  let stopping = false;
  let stoppedAt = 0;

  const end = async (code: number): Promise<void> => {
    const drainTimeout = options.drainTimeout();
    const deadline = setTimeout(() => {
      log.error({ drainTimeout }, "closing took too long");
      exit(log, 1);
    }, drainTimeout);
    await lifecycle.close();
    clearTimeout(deadline);
    exit(log, code);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      // Shell and system both send one when a terminal closes.
      if (signal === "SIGHUP" || performance.now() - stoppedAt < sameSignal) return;
      log.warn({ signal }, "second signal, ending at once");
      exit(log, 1);
      return;
    }
    stopping = true;
    stoppedAt = performance.now();
    log.info({ signal }, "stopping");
    stop.abort();
    void end(0);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, onSignal);
  // A terminal that is gone cannot be written to; that must not keep anything from being closed.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  process.on("unhandledRejection", (err) => {
    log.fatal({ err }, "unhandled rejection");
    exit(log, 1);
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
