/** Bytes that JSON has outside of its values, and those that tell a string's end. */
const byte = { quote: 0x22, comma: 0x2c, openList: 0x5b, escape: 0x5c, closeList: 0x5d, openMap: 0x7b, closeMap: 0x7d };

/** What a document was: a list, whose elements were handed over, or another value. */
export type ReadDocument = { readonly isList: true } | { readonly isList: false; readonly value: unknown };

/**
 * Reads a JSON document that comes in chunks, and hands over the elements of a list as they come: neither its text nor
 * its elements have to be in memory as a whole.
 */
export class JsonElements {
  readonly #take: (element: unknown) => void;
  /** What came after the last element that was handed over. */
  #rest: Uint8Array[] = [];
  #hasTaken = false;
  #depth = 0;
  #isList = false;
  #isInString = false;
  #isEscaped = false;

  constructor(take: (element: unknown) => void) {
    this.#take = take;
  }

  /** @throws SyntaxError when an element that has ended is no JSON */
  add(chunk: Uint8Array): void {
    const comma = this.#lastComma(chunk);
    if (comma === -1) return void this.#rest.push(chunk);
    this.#rest.push(chunk.subarray(0, comma));
    this.#takeRest("]");
    this.#rest = [chunk.subarray(comma + 1)];
  }

  /**
   * After the last chunk.
   * @throws SyntaxError when the document is no JSON
   */
  end(): ReadDocument {
    if (!this.#hasTaken) {
      const value: unknown = JSON.parse(this.#text());
      if (!Array.isArray(value)) return { isList: false, value };
      for (const element of value) this.#take(element);
    } else {
      this.#takeRest("");
    }
    return { isList: true };
  }

  /** Hands over the elements in the rest, which is whole with `close` behind it. */
  #takeRest(close: string): void {
    const elements = JSON.parse(`${this.#hasTaken ? "[" : ""}${this.#text()}${close}`) as readonly unknown[];
    // Before a comma, and behind one, there must be something.
    if (elements.length === 0) throw new SyntaxError("An element of the list is missing");
    this.#hasTaken = true;
    for (const element of elements) this.#take(element);
  }

  #text(): string {
    return Buffer.concat(this.#rest).toString("utf8");
  }

  /** Where the last comma in `chunk` is that separates elements of the list; -1 without one. */
  #lastComma(chunk: Uint8Array): number {
    let last = -1;
    for (let index = 0; index < chunk.length; index++) {
      const each = chunk[index];
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (each === byte.escape) this.#isEscaped = true;
        else if (each === byte.quote) this.#isInString = false;
        continue;
      }
      switch (each) {
        case byte.quote:
          this.#isInString = true;
          break;
        case byte.openList:
        case byte.openMap:
          if (this.#depth === 0) this.#isList = each === byte.openList;
          this.#depth += 1;
          break;
        case byte.closeList:
        case byte.closeMap:
          this.#depth -= 1;
          break;
        case byte.comma:
          if (this.#depth === 1 && this.#isList) last = index;
          break;
        default:
      }
    }
    return last;
  }
}
