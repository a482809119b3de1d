import { isHeaderValue, isToken } from "../api/http-grammar.ts";

/** Headers as they go over the wire. */
export interface WrittenHeaders {
  /** A line for each, with its end; one character per byte. */
  readonly lines: string;
  readonly hasLength: boolean;
  readonly hasDate: boolean;
}

/** A header that cannot be sent; nothing was sent of its message. */
export class UnsendableHeader extends Error {
  override readonly name = "UnsendableHeader";
}

/** Names that were found to be good; bounded, as clients and functions choose them. */
const goodNames = new Set<string>();
const mostNames = 2_000;

/** @throws UnsendableHeader when there may be no such header */
export function checkHeaderName(name: string): void {
  if (goodNames.has(name)) return;
  if (!isToken(name)) throw new UnsendableHeader(`Cannot send header "${name.slice(0, 100)}": its name is no token`);
  if (goodNames.size < mostNames) goodNames.add(name);
}

/** @throws UnsendableHeader when the value of the header called `name` cannot be sent */
export function checkHeaderValue(name: string, value: string): void {
  if (!isHeaderValue(value))
    throw new UnsendableHeader(`Cannot send header "${name}": its value has a byte of no value`);
}

/**
 * Writes a flat list of headers.
 * @throws UnsendableHeader when a value cannot be sent, or as `checkName` does
 */
export function writeHeaders(
  list: readonly string[],
  checkName: (name: string) => void = checkHeaderName,
): WrittenHeaders {
  let lines = "";
  let hasLength = false;
  let hasDate = false;
  for (let index = 0; index + 1 < list.length; index += 2) {
    const name = list[index] ?? "";
    const value = list[index + 1] ?? "";
    checkName(name);
    checkHeaderValue(name, value);
    if (name.length === 14) hasLength ||= name.toLowerCase() === "content-length";
    else if (name.length === 4) hasDate ||= name.toLowerCase() === "date";
    lines += name + ": " + value + "\r\n";
  }
  return { lines, hasLength, hasDate };
}
