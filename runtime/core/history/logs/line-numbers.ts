import type { LogRecord } from "../../../api/schemas/log-record.ts";
import type { FollowedLine, LogPosition } from "../../ports/kept-logs.ts";
import { formatTaggedLine } from "../../replicas/tagged-line.ts";
import { compareLogMoments, parseLogMoment } from "./log-moment.ts";

/** Numbers the lines of a stream, so that a stream that is read again gives each line the same number. */
export class LineNumbers {
  readonly #last = new Map<string, LogPosition>();

  /** The line with its tag and its number, and where it stands; undefined when its time cannot be read. */
  next({ call, ...record }: LogRecord): { readonly line: FollowedLine; readonly position: LogPosition } | undefined {
    const moment = parseLogMoment(record.timestamp);
    if (moment === undefined) return undefined;
    const before = this.#last.get(record.instance);
    const repeats = before !== undefined && compareLogMoments(before, moment) === 0;
    const number = repeats ? before.number + 1 : 0;
    const position = { ...moment, number };
    this.#last.set(record.instance, position);
    return { line: { ...record, text: formatTaggedLine(record.text, call), number }, position };
  }
}

/** Whether a line was kept by the time that a log had been kept up to `kept`. */
export function isCovered(position: LogPosition, kept: LogPosition | undefined): boolean {
  if (kept === undefined) return false;
  const order = compareLogMoments(position, kept);
  return order < 0 || (order === 0 && position.number <= kept.number);
}
