import pino, { type Logger } from "pino";

export type Log = Logger;

/**
 * The log of one process: JSON lines on standard error, credentials and bodies never among the fields.
 * Levels as pino has them: trace, debug, info, warn, error, fatal, silent.
 */
export function createLog(name: string, level: string): Log {
  return pino({ name, level, base: { name }, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: false }));
}
