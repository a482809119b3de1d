import { passedHeaders, type PassedHeaders } from "./reply-headers.ts";

/** Most header lists that are cached; a look-up compares with each of them. */
const maxLists = 32;
const emptyList: readonly string[] = [];

/**
 * Caches the headers passed on of recent replies, by identity of the header list: an upstream passes the same list
 * again for a repeated head. Nothing is kept per function, as there may be many.
 */
export class ReplyHeadCache {
  readonly #lists: (readonly string[])[] = Array.from({ length: maxLists }, () => emptyList);
  readonly #statuses: number[] = Array.from({ length: maxLists }, () => 0);
  readonly #passed: (PassedHeaders | undefined)[] = Array.from({ length: maxLists }, () => undefined);
  #next = 0;

  /** The function's headers that are passed on to the client. */
  passedOn(status: number, headers: readonly string[]): PassedHeaders {
    const found = this.#lists.indexOf(headers);
    const known = found !== -1 && this.#statuses[found] === status ? this.#passed[found] : undefined;
    if (known !== undefined) return known;
    const passed = passedHeaders(status, headers);
    const index = this.#next;
    this.#next = (index + 1) % maxLists;
    this.#lists[index] = headers;
    this.#statuses[index] = status;
    this.#passed[index] = passed;
    return passed;
  }
}
