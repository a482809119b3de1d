import pino, { type Logger } from "pino";

import { logText, paintFor } from "./log-text.ts";

export type Log = Logger;

/** `text` is for a person at a terminal, `auto` that where standard error is one, and JSON lines elsewhere. */
export type LogFormat = "auto" | "json" | "text";

/**
 * The log of one process: lines on standard error, credentials and bodies never among the fields.
 * Levels as pino has them: trace, debug, info, warn, error, fatal, silent.
 */
export function createLog(name: string, level: string, format: LogFormat = "json"): Log {
  const destination = pino.destination({ dest: 2, sync: false });
  // The terminal may be gone: the log ends then, the process does not. What was not written would be tried for ever at its exit.
  destination.on("error", () => {
    destination.write = () => true;
    destination.flushSync = () => {};
  });
  const isText = format === "text" || (format === "auto" && process.stderr.isTTY);
  return pino(
    { name, level, base: { name }, timestamp: pino.stdTimeFunctions.isoTime },
    isText ? inWords(destination) : destination,
  );
}

function inWords(destination: ReturnType<typeof pino.destination>) {
  const paint = paintFor(process.stderr);
  return {
    write: (line: string): boolean => destination.write(logText(line, paint)),
    flush: (done: (err?: Error) => void) => destination.flush(done),
    flushSync: () => destination.flushSync(),
  };
}
