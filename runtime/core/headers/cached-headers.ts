import { isHeaderValue } from "../../api/http-grammar.ts";

/** Headers as they go over the wire. */
export interface WrittenHeaders {
  /** A line for each, with its end; one character per byte. */
  readonly lines: string;
  readonly hasLength: boolean;
  readonly hasDate: boolean;
}

/** @throws Error when the value of the header called `name` cannot be sent */
export function checkHeaderValue(name: string, value: string): void {
  if (!isHeaderValue(value)) throw new Error(`Cannot send header "${name}": its value has a byte of no value`);
}

/**
 * Writes a flat list of headers.
 * @throws Error when a value cannot be sent, or as `checkName` does when there may be no such header
 */
export function writeHeaders(list: readonly string[], checkName: (name: string) => void): WrittenHeaders {
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

/**
 * Headers that may come with message after message, as clients and functions repeat themselves over a connection. The one
 * who sends them writes them once.
 */
export class CachedHeaders {
  /** Flat: name, value, … */
  readonly list: readonly string[];
  #written: WrittenHeaders | undefined;

  constructor(list: readonly string[]) {
    this.list = list;
  }

  /** What `write` makes of the list; it is asked the first time only. */
  written(write: (list: readonly string[]) => WrittenHeaders): WrittenHeaders {
    return (this.#written ??= write(this.list));
  }
}

/** `own` behind those that are repeated, if there are any. */
export function joinHeaders(repeated: CachedHeaders | undefined, own: string[]): string[] {
  return repeated === undefined ? own : [...repeated.list, ...own];
}
