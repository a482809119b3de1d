/** Beyond these, `parseYaml` decides. */
const maxCharacters = 20_000;
const maxLineLength = 1_000;
const maxParts = 1_500;
const maxLevel = 16;

/** Nothing but line feeds and what may stand in texts; no tabs. */
const simpleText = /^[\n\x20-\x7e\u00a0-\u2027\u202a-\ud7ff]*$/;
const keyText = /^[A-Za-z_](?:[\w./:-]*[\w./-])?$/;
const plain = "[A-Za-z](?:[\\w./@+*:-]*[\\w./@+*-])?";
const scalarText = new RegExp(`^(?:(${plain})|"([^"\\\\]*)"|'([^']*)')(?: +#.*)?$`);
const listItem = new RegExp(` *(?:(${plain})|"([^"\\\\]*)"|'([^']*)') *(?:(,)|\\](?= *$| +#))`, "y");
/** Not texts but other values. */
const otherValue = /^(?:null|true|false)$/i;
const refusedKeys: ReadonlySet<string> = new Set(["__proto__", "constructor"]);
const [space, hash] = [0x20, 0x23];

/**
 * The value of a document in the subset of YAML that most manifests are written in: block mappings and lists, flow
 * lists of one line, and texts of one line without escapes. This takes a tenth of the time of `parseYaml`. Undefined
 * for all other documents, wrong ones among them: then `parseYaml` decides.
 */
export function readSimpleYaml(text: string): unknown {
  if (text.length > maxCharacters || !simpleText.test(text)) return undefined;
  return new SimpleReader().read(text);
}

/** Each method returns undefined for what is not simple. */
class SimpleReader {
  /** By line with content: its indentation, and the rest without spaces at its end. */
  readonly #indents: number[] = [];
  readonly #contents: string[] = [];
  #at = 0;
  #parts = 0;

  read(text: string): unknown {
    for (let start = text.startsWith("---\n") ? 4 : 0; start < text.length;) {
      const feed = text.indexOf("\n", start);
      const end = feed === -1 ? text.length : feed;
      if (end - start > maxLineLength) return undefined;
      this.#addLine(text, start, end);
      start = end + 1;
    }
    this.#parts += this.#contents.length;
    const value = this.#block(0, 1);
    return this.#at === this.#contents.length && this.#parts <= maxParts ? value : undefined;
  }

  #addLine(text: string, start: number, end: number): void {
    let [first, last] = [start, end];
    while (first < end && text.charCodeAt(first) === space) first += 1;
    if (first === end || text.charCodeAt(first) === hash) return;
    while (text.charCodeAt(last - 1) === space) last -= 1;
    this.#indents.push(first - start);
    this.#contents.push(text.slice(first, last));
  }

  /** The collection whose first line is the current one, which must be indented by `indent`. */
  #block(indent: number, level: number): unknown {
    if (level > maxLevel || this.#indents[this.#at] !== indent) return undefined;
    return this.#isItem(indent) ? this.#list(indent, level) : this.#mapping(indent, level);
  }

  #mapping(indent: number, level: number): unknown {
    const mapping: Record<string, unknown> = {};
    while (this.#indents[this.#at] === indent) {
      const line = this.#contents[this.#at] ?? "";
      const colon = colonOf(line);
      const key = line.slice(0, colon);
      if (!isKey(key) || Object.hasOwn(mapping, key)) return undefined;
      this.#at += 1;
      const value = this.#valueAfter(line, colon + 1, indent, level);
      if (value === undefined) return undefined;
      mapping[key] = value;
    }
    return mapping;
  }

  #list(indent: number, level: number): unknown {
    const list: unknown[] = [];
    while (this.#isItem(indent)) {
      const line = this.#contents[this.#at] ?? "";
      const start = contentFrom(line, 1);
      const rest = line.slice(start);
      let value: unknown;
      if (isKey(rest.slice(0, colonOf(rest)))) {
        // A mapping that begins on the line of its item.
        this.#indents[this.#at] = indent + start;
        this.#contents[this.#at] = rest;
        value = this.#mapping(indent + start, level + 1);
      } else {
        this.#at += 1;
        value = this.#inline(rest, indent, level);
      }
      if (value === undefined) return undefined;
      list.push(value);
    }
    return list;
  }

  /** The value of a key: on its line, or below it. */
  #valueAfter(line: string, colon: number, indent: number, level: number): unknown {
    const start = contentFrom(line, colon);
    if (start < line.length && line.charCodeAt(start) !== hash) return this.#inline(line.slice(start), indent, level);
    const next = this.#indents[this.#at] ?? 0;
    if (next > indent) return this.#block(next, level + 1);
    return this.#isItem(indent) ? this.#list(indent, level + 1) : undefined;
  }

  /** A value that ends on its line: what is indented below would continue it. */
  #inline(text: string, indent: number, level: number): unknown {
    if (level >= maxLevel || (this.#indents[this.#at] ?? 0) > indent) return undefined;
    return text.startsWith("[") ? this.#flowList(text) : textOf(scalarText.exec(text));
  }

  #flowList(text: string): unknown {
    const list: string[] = [];
    for (listItem.lastIndex = 1; ;) {
      const match = listItem.exec(text);
      const item = textOf(match);
      if (item === undefined) return undefined;
      list.push(item);
      this.#parts += 1;
      if (match?.[4] === undefined) return list;
    }
  }

  #isItem(indent: number): boolean {
    return this.#indents[this.#at] === indent && this.#contents[this.#at]?.startsWith("- ") === true;
  }
}

function textOf(match: RegExpExecArray | null): string | undefined {
  if (match === null) return undefined;
  const [, bare, double, single] = match;
  if (bare !== undefined) return isOtherValue(bare) ? undefined : bare;
  return double ?? single;
}

function isKey(text: string): boolean {
  return keyText.test(text) && !isOtherValue(text) && !refusedKeys.has(text);
}

function isOtherValue(text: string): boolean {
  return (text.length === 4 || text.length === 5) && otherValue.test(text);
}

/** Where the key of a line ends; 0 if it has none. */
function colonOf(line: string): number {
  const colon = line.indexOf(": ");
  if (colon !== -1) return colon;
  return line.endsWith(":") ? line.length - 1 : 0;
}

function contentFrom(line: string, start: number): number {
  let at = start;
  while (line.charCodeAt(at) === space) at += 1;
  return at;
}
