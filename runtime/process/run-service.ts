import { Lifecycle } from "./lifecycle.ts";
import type { Log } from "./log.ts";

export interface ServiceOptions {
  readonly log: Log;
  /** Milliseconds the whole closing may take before the process ends all the same. */
  readonly drainTimeout: number;
  /** Opens everything; what it throws ends the process with code 1 after closing what was open. */
  readonly open: (lifecycle: Lifecycle, stop: AbortSignal) => Promise<void>;
  /** Says in one line why the start failed, for a person at a terminal. */
  readonly reportFailure?: (err: unknown) => void;
}

/**
 * The life of a process: open, serve until SIGTERM or SIGINT, close in reverse, exit. A second signal, or the drain
 * timeout, ends it at once with code 1. Resolves never; the process exits.
 */
export async function runService(options: ServiceOptions): Promise<void> {
  const { log } = options;
  const lifecycle = new Lifecycle(log);
  const stop = new AbortController();
  let stopping = false;

  const end = async (code: number): Promise<void> => {
    const deadline = setTimeout(() => {
      log.error({ drainTimeout: options.drainTimeout }, "closing took too long");
      exit(log, 1);
    }, options.drainTimeout);
    await lifecycle.close();
    clearTimeout(deadline);
    exit(log, code);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      log.warn({ signal }, "second signal, ending at once");
      exit(log, 1);
      return;
    }
    stopping = true;
    log.info({ signal }, "stopping");
    stop.abort();
    if (opened) void end(0);
  };
  let opened = false;
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  process.on("unhandledRejection", (err) => {
    log.fatal({ err }, "unhandled rejection");
    exit(log, 1);
  });

  try {
    await options.open(lifecycle, stop.signal);
    opened = true;
  } catch (err) {
    if (!stopping) {
      if (options.reportFailure === undefined) log.fatal({ err }, "cannot start");
      else options.reportFailure(err);
    }
    await end(stopping ? 0 : 1);
    return;
  }
  if (stopping) await end(0);
}

function exit(log: Log, code: number): void {
  log.flush(() => process.exit(code));
}
