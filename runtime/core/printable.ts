import { stripVTControlCharacters } from "node:util";

/** A line of a function without what would steer the terminal on which it is read; tabs stay. */
export function printable(line: string): string {
  return stripVTControlCharacters(line).replaceAll(/(?!\t)\p{Cc}/gu, " ");
}
