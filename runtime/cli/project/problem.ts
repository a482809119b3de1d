import { usageError, type CliError } from "../cli-error.ts";
import { escapeLine } from "../output/escape-text.ts";
import type { LocatedPath } from "./located.ts";

/** Something that is wrong in a `weir.yaml`. */
export interface ProjectProblem {
  /** Offset in its text. */
  readonly at: number;
  /** `Cannot read …: …`, of one line. */
  readonly sentence: string;
}

/** Most problems that are shown; a file with more is of another kind. */
const mostShown = 100;
const mostCharacters = 64;

/** A problem of the value at `path`. */
export function problemAt(at: number, path: LocatedPath, state: string): ProjectProblem {
  return { at, sentence: `Cannot read ${pathText(path)}: ${state}` };
}

/** A text of the file in quotes, cut after 64 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text);
}

/**
 * All problems of a file as one error, a line each: `weir.yaml:14:7: Cannot read functions.hello.limit: no such key`.
 * Lines and columns count from 1.
 */
export function problemsError(shownFile: string, text: string, problems: readonly ProjectProblem[]): CliError {
  const starts = lineStarts(text);
  const lines = problems
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, sentence }) => {
      const line = starts.findLastIndex((start) => start <= at);
      return `${shownFile}:${line + 1}:${at - (starts[line] ?? 0) + 1}: ${sentence}`;
    });
  const distinct = [...new Set(lines)];
  const more = distinct.length - mostShown;
  return usageError([...distinct.slice(0, mostShown), ...(more > 0 ? [`… and ${more} more`] : [])].join("\n"));
}

function pathText(path: LocatedPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += `${text === "" ? "" : "."}${escapeLine(part.slice(0, mostCharacters))}`;
  }
  return text === "" ? "the file" : text;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
