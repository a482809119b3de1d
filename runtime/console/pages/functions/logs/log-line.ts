import type { LogRecord } from "../../../../api/schemas/log-record.ts";
import { ansiRuns, type AnsiRun } from "../../../data/words/ansi-runs.ts";

/** A line of a log as it is shown. */
export interface ShownLine {
  /** Names it in addresses: `2026-01-31T12:00:00.123456789Z~hello-1-0`, with a number if several have the same. */
  readonly key: string;
  readonly record: LogRecord;
  readonly runs: readonly AnsiRun[];
  /** Without colours, in small letters, for finding. */
  readonly plain: string;
}

/** Most characters of a line that are shown. */
const mostCharacters = 16_384;

/** What a record shows. */
export function shownLine(record: LogRecord, repeat: number): ShownLine {
  const text = record.text.replace(/\r?\n$/, "");
  const over = text.length - mostCharacters;
  const runs = ansiRuns(over > 0 ? `${text.slice(0, mostCharacters)} … ${over} more characters` : text);
  const name = `${record.timestamp}~${record.instance}`;
  return {
    key: repeat === 0 ? name : `${name}~${repeat}`,
    record,
    runs,
    plain: runs
      .map((run) => run.text)
      .join("")
      .toLowerCase(),
  };
}

/** The name of the line that a part of an address stands for; empty for one that stands for none. */
export function lineOfPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

/** The moment that a line's name begins with, milliseconds since 1970; undefined for a text that names none. */
export function momentOfLine(part: string): number | undefined {
  const [moment = ""] = lineOfPart(part).split("~", 1);
  const at = Date.parse(moment);
  return Number.isFinite(at) ? at : undefined;
}
