import type { OutputName } from "../../api/schemas/log-record.ts";
import { formatTaggedLine, parseTaggedLine } from "../../core/replicas/tagged-line.ts";
import type { LogLine } from "./log-lines.ts";

/** After the time in a file; lines of earlier releases have neither. */
const marks: Readonly<Record<OutputName, string>> = { stdout: "1", stderr: "2" };

/** A line of a log file, with its newline: the time, the mark of the stream if it is known, a space, and the text. */
export function formatLoggedLine({ timestamp, stream, text, call }: LogLine): string {
  return `${timestamp}${stream === undefined ? "" : marks[stream]} ${formatTaggedLine(text, call)}\n`;
}

/** Parses a line of a log file, without its newline; undefined when it is malformed. */
export function parseLoggedLine(line: string): LogLine | undefined {
  const space = line.indexOf(" ");
  if (space < 0) return undefined;
  const head = line.slice(0, space);
  const tagged = parseTaggedLine(line.slice(space + 1));
  if (head.endsWith(marks.stdout)) return { timestamp: head.slice(0, -1), ...tagged, stream: "stdout" };
  if (head.endsWith(marks.stderr)) return { timestamp: head.slice(0, -1), ...tagged, stream: "stderr" };
  return { timestamp: head, ...tagged };
}
