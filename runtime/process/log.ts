import pino, { type Logger } from "pino";

import { logText, paintFor } from "./log-text.ts";

export type Log = Logger;

/** `text` is for a person at a terminal; `auto` is `text` if standard error is a terminal, else `json`. */
export type LogFormat = "auto" | "json" | "text";

/**
 * The log of one process: lines on standard error, with neither credentials nor bodies among the fields.
 * Levels are pino's: trace, debug, info, warn, error, fatal, silent.
 */
export function createLog(name: string, level: string, format: LogFormat = "json"): Log {
  const destination = pino.destination({ dest: 2, sync: false });
  // If the terminal is gone, only the log ends. Without this, pino would retry unwritten lines endlessly at exit.
  destination.on("error", () => {
    destination.write = () => true;
    destination.flushSync = () => {};
  });
  const isText = format === "text" || (format === "auto" && process.stderr.isTTY);
  return pino(
    { name, level, base: { name }, timestamp: pino.stdTimeFunctions.isoTime },
    isText ? asText(destination) : destination,
  );
}

function asText(destination: ReturnType<typeof pino.destination>) {
  const paint = paintFor(process.stderr);
  return {
    write: (line: string): boolean => destination.write(logText(line, paint)),
    flush: (done: (err?: Error) => void) => destination.flush(done),
    flushSync: () => destination.flushSync(),
  };
}
