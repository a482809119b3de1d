import { isHeaderValue, isToken } from "../../api/http-grammar.ts";
import { usageError } from "../cli-error.ts";

/** Headers of a request: names in lower case, a list where one was given several times. */
export type CallHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Headers of the connection, which follow from the request itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Reads headers as they are written in a request: `Name: value`.
 * @throws CliError for what no request can carry
 */
export function parseCallHeaders(lines: readonly string[]): CallHeaders {
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const refuse = (reason: string): never => {
      throw usageError(`Cannot send header "${line}": ${reason}`);
    };
    if (!isToken(name)) refuse('it must have the form "Name: value"');
    if (!isHeaderValue(value)) refuse("its value has characters that no header can hold");
    if (ownHeaders.has(name)) refuse("it follows from the request itself");
    headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  return Object.fromEntries(
    [...headers].map(([name, values]) => [name, values.length === 1 ? values.join("") : values]),
  );
}

/** Names and values in turn. */
export function headerPairs(headers: CallHeaders): readonly string[] {
  return Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
}

/** Inverse of `headerPairs`; without the headers whose lower-case names are to be dropped. */
export function headersOf(pairs: readonly string[], isDropped: (lowerName: string) => boolean): CallHeaders {
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const name = (pairs[index] ?? "").toLowerCase();
    if (!isDropped(name)) headers.set(name, [...(headers.get(name) ?? []), pairs[index + 1] ?? ""]);
  }
  return Object.fromEntries(headers);
}
