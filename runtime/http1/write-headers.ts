import { isHeaderValue, isToken } from "../api/http-grammar.ts";

/** Headers as sent over the wire. */
export interface WrittenHeaders {
  /** One line per header, with its end; one character per byte. */
  readonly lines: string;
  readonly hasLength: boolean;
  readonly hasDate: boolean;
}

/** A header that cannot be sent; nothing of its message was sent. */
export class UnsendableHeader extends Error {
  override readonly name = "UnsendableHeader";
}

/** Names known to be valid; bounded, because clients and functions choose them. */
const validNames = new Set<string>();
const maxNames = 2_000;

/** @throws UnsendableHeader when `name` is not a token */
export function checkHeaderName(name: string): void {
  if (validNames.has(name)) return;
  if (!isToken(name)) throw new UnsendableHeader(`Cannot send header "${name.slice(0, 100)}": its name is not a token`);
  if (validNames.size < maxNames) validNames.add(name);
}

/** @throws UnsendableHeader when the value of the header called `name` cannot be sent */
export function checkHeaderValue(name: string, value: string): void {
  if (!isHeaderValue(value)) throw new UnsendableHeader(`Cannot send header "${name}": its value has a forbidden byte`);
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
