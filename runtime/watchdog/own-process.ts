/** The watchdog's own process. */
export interface OwnProcess {
  /** Writes a line of the watchdog's own to the log, after the tag of a call if it is about one. */
  readonly log: (line: string, tag?: string) => void;
  /** Resolves when it is told to stop, or the process that started it is gone. */
  readonly stop: Promise<void>;
}

/** Lets the process outlive the reader of its log, and calls `atEnd` when it exits. */
export function openOwnProcess(atEnd: () => void): OwnProcess {
  process.on("exit", atEnd);
  // The reader of the log may be gone.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  // Each process whose output is passed on may wait for it to drain.
  process.stderr.setMaxListeners(0);
  const stop = new Promise<void>((resolve) => {
    for (const event of ["SIGTERM", "SIGINT", "disconnect"]) process.on(event, () => resolve());
  });
  return { log: (line, tag = "") => void process.stderr.write(`${tag}watchdog: ${line}\n`), stop };
}
