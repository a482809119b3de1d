import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, Parser, type CST } from "yaml";

/** Limits of a document (`security.md` §8); within them, parsing takes less than 100 ms. */
const maxBytes = 65_536;
const maxTokens = 10_000;
const maxDepth = 32;
const maxAliases = 10;
const tooDeep = `it is nested deeper than ${maxDepth} levels`;
const refusedKeys: ReadonlySet<unknown> = new Set(["__proto__", "constructor"]);
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The one YAML document in `bytes` by the core schema: at most 64 KiB, 32 levels and 10 aliases, no key twice, no other
 * tags. Mappings become objects without prototype; an empty document is null.
 * @throws Error with the reason
 */
export function parseYaml(bytes: Uint8Array): unknown {
  if (bytes.byteLength > maxBytes) throw new Error(`it is over the limit of ${maxBytes} bytes`);
  const text = utf8.decode(bytes);
  // Without resolveKnownTags: false, tags of other schemas would be resolved, too.
  const composer = new Composer({ schema: "core", resolveKnownTags: false, uniqueKeys: false });
  const [document, second] = composer.compose(nodesOf(text), true, text.length);
  if (document === undefined) return null;
  if (second !== undefined) throw new Error("it holds more than one document");
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined) {
    const line = text.slice(0, fault.pos[0]).split("\n").length;
    throw new Error(`line ${line} is not YAML of the core schema: ${fault.message.slice(0, 200)}`);
  }
  return new Reader().read(document.contents);
}

/**
 * The syntax of the text, read token by token, so that too many or too deep ones are refused before they cost anything.
 */
function* nodesOf(text: string): Generator<CST.Token, void> {
  const parser = new Parser();
  let tokens = 0;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > maxTokens) throw new Error(`it has more than ${maxTokens} tokens`);
    yield* parser.next(token);
    // The document itself and the scalar being read are on the stack, too; levels are counted when values are made.
    if (parser.stack.length > maxDepth + 2) throw new Error(tooDeep);
  }
  yield* parser.end();
}

/** Converts nodes to values. The node behind an alias is read again at each use, and counts towards the depth there. */
class Reader {
  readonly #anchors = new Map<string, unknown>();
  #aliases = 0;

  /** `level` is the nesting level of a collection at this place, from 1. */
  read(node: unknown, level = 1): unknown {
    if (node === null || node === undefined) return null;
    if (isAlias(node)) return this.read(this.#named(node.source), level);
    const value = this.#value(node, level);
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    // Only now: an alias inside its own anchor would recurse without end.
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return value;
  }

  #value(node: unknown, level: number): unknown {
    if (isScalar(node)) return node.value;
    if (level > maxDepth) throw new Error(tooDeep);
    if (isSeq(node)) return node.items.map((item) => this.read(item, level + 1));
    if (!isMap(node)) throw new Error("it holds something that is not a value");
    const object: Record<string, unknown> = Object.create(null);
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : undefined;
      if (name === undefined) throw new Error("a key is not a text");
      if (refusedKeys.has(name)) throw new Error(`key "${name}" is not allowed`);
      if (Object.hasOwn(object, name)) throw new Error(`key "${name.slice(0, 100)}" comes twice`);
      object[name] = this.read(value, level + 1);
    }
    return object;
  }

  #named(anchor: string): unknown {
    this.#aliases += 1;
    if (this.#aliases > maxAliases) throw new Error(`it has more than ${maxAliases} aliases`);
    const node = this.#anchors.get(anchor);
    if (node === undefined) throw new Error(`alias "${anchor.slice(0, 100)}" names nothing before it`);
    return node;
  }
}
