import { stripVTControlCharacters } from "node:util";

/** A line of a function, safe to show on a terminal: no escape sequences, and no control characters but tabs. */
export function printable(line: string): string {
  return stripVTControlCharacters(line).replaceAll(/(?!\t)\p{Cc}/gu, " ");
}
