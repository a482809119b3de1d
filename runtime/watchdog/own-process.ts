/** The process that a watchdog is. */
export interface OwnProcess {
  /** Writes a line of the watchdog's own. */
  readonly log: (line: string) => void;
  /** Resolves when it is told to stop, or the process that started it is gone. */
  readonly stop: Promise<void>;
}

/** Makes it outlive the reader of its log, and call `atEnd` whatever ends it. */
export function openOwnProcess(atEnd: () => void): OwnProcess {
  process.on("exit", atEnd);
  // The reader of the log may be gone.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  // Each process that writes may wait for it.
  process.stderr.setMaxListeners(0);
  const stop = new Promise<void>((resolve) => {
    for (const event of ["SIGTERM", "SIGINT", "disconnect"]) process.on(event, () => resolve());
  });
  return { log: (line) => void process.stderr.write(`watchdog: ${line}\n`), stop };
}
