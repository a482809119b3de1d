import { parseCallId } from "../../api/grammar.ts";

/** Control characters that logs have for no other reason: before the id of a call, and after it. */
const mark = { begin: "\u001E", end: "\u001F" } as const;
const idLength = 36;

/** A line, and the call during which it was written if the line names it. */
export interface TaggedLine {
  readonly text: string;
  readonly call?: string;
}

/** What begins a line that is written during a call; empty if `call` is no id of a call. */
export function lineTag(call: string): string {
  const id = parseCallId(call);
  return id === undefined ? "" : mark.begin + id + mark.end;
}

/** A line as logs have it. */
export function formatTaggedLine(text: string, call: string | undefined): string {
  return call === undefined ? text : lineTag(call) + text;
}

/** Parses a line of a log; one without a tag is its text. */
export function parseTaggedLine(line: string): TaggedLine {
  if (line[0] !== mark.begin || line[idLength + 1] !== mark.end) return { text: line };
  const call = parseCallId(line.slice(1, idLength + 1));
  return call === undefined ? { text: line } : { text: line.slice(idLength + 2), call };
}
