import type { LogRecord } from "../../api/schemas/log-record.ts";
import { localTime } from "../output/age-text.ts";
import { escapeLine, escapeText } from "../output/escape-text.ts";

/** A line of a log for people: local time, replica, text. */
export function logLine({ instance, text, timestamp }: LogRecord): string {
  // Tabs stay; what looks like the end of a line would begin one that nobody wrote.
  const shown = escapeText(text.replace(/\n$/, "")).replaceAll("\n", String.raw`\n`);
  return `${localTime(timestamp)}  ${escapeLine(instance)}  ${shown}\n`;
}

/** The same as one line of JSON, with all that the gateway sent; characters that are not shown are escaped in it. */
export function logDocument(record: LogRecord): string {
  return `${escapeText(JSON.stringify(record))}\n`;
}
