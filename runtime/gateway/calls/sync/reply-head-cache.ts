import { passedHeaders, type PassedHeaders } from "./reply-headers.ts";

/** So many lists are told apart from each other by one look at each. */
const mostKept = 32;
const nobody: readonly string[] = [];

/**
 * What went on of the last replies: one that says the same again, in the very same list, as an upstream gives it then, is
 * not read again. Nothing is kept per function, as there may be many.
 */
export class ReplyHeadCache {
  readonly #lists: (readonly string[])[] = Array.from({ length: mostKept }, () => nobody);
  readonly #statuses: number[] = Array.from({ length: mostKept }, () => 0);
  readonly #passed: (PassedHeaders | undefined)[] = Array.from({ length: mostKept }, () => undefined);
  #next = 0;

  /** What of a function's headers goes on to the client. */
  passedOn(status: number, headers: readonly string[]): PassedHeaders {
    const found = this.#lists.indexOf(headers);
    const known = found !== -1 && this.#statuses[found] === status ? this.#passed[found] : undefined;
    if (known !== undefined) return known;
    const passed = passedHeaders(status, headers);
    const index = this.#next;
    this.#next = (index + 1) % mostKept;
    this.#lists[index] = headers;
    this.#statuses[index] = status;
    this.#passed[index] = passed;
    return passed;
  }
}
