import pino, { type Logger } from "pino";

export type Log = Logger;

/**
 * The log of one process: JSON lines on standard error, credentials and bodies never among the fields.
 * Levels as pino has them: trace, debug, info, warn, error, fatal, silent.
 */
export function createLog(name: string, level: string): Log {
  const destination = pino.destination({ dest: 2, sync: false });
  // The terminal may be gone: the log ends then, the process does not. What was not written would be tried for ever at its exit.
  destination.on("error", () => {
    destination.write = () => true;
    destination.flushSync = () => {};
  });
  return pino({ name, level, base: { name }, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}
