import type { Log } from "../../process/log.ts";

/** A line of the history's log. */
interface HistoryLine {
  readonly level: number;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const levels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 } as const;
/** At start and stop it says what its host says already. */
const own = /^history is ready$|^stopping$|^became leader$/;

/** Writes a line of the history's log to that of the host, whose own state it does not change: at most as an error. */
export function logHistoryLine(log: Log, text: string): void {
  const line = parseLine(text);
  if (line === undefined) {
    log.warn({ line: text }, "the history process wrote");
    return;
  }
  const { level, msg, fields } = line;
  const found = (["error", "warn", "info", "debug"] as const).find((name) => level >= levels[name]) ?? "trace";
  log[found === "info" && own.test(msg) ? "debug" : found](fields, msg);
}

/** Why it ended, by the last line that it wrote. */
export function reasonOfEnd(text: string | undefined, how: string): string {
  if (text === undefined) return how;
  const line = parseLine(text);
  if (line === undefined) return text;
  const { err } = line.fields;
  const message = typeof err === "object" && err !== null && "message" in err ? String(err.message) : undefined;
  return line.level >= levels.error ? (message ?? line.msg) : how;
}

function parseLine(text: string): HistoryLine | undefined {
  try {
    const { level, msg, time: _time, name: _name, ...fields } = JSON.parse(text) as Record<string, unknown>;
    return typeof level === "number" && typeof msg === "string" ? { level, msg, fields } : undefined;
  } catch {
    return undefined;
  }
}
