import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, Parser, type CST } from "yaml";

import { escapeLine } from "../output/escape-text.ts";
import type { Located, LocatedEntry, LocatedPath } from "./located.ts";
import { problemAt, quoted, type ProjectProblem } from "./problem.ts";

/** Limits of a document, with which it is read within 300 ms; those of its bytes are the caller's. */
const most = { tokens: 50_000, nodes: 50_000, depth: 32, aliases: 100 } as const;
const tooDeep = `it is nested deeper than ${most.depth} levels`;
const refusedKeys: ReadonlySet<string> = new Set(["__proto__", "constructor"]);

/** What a YAML text holds. */
export interface LocatedDocument {
  /** Undefined when it is empty or cannot be read at all; what could be read of one that is not `wellFormed`. */
  readonly root: Located | undefined;
  readonly wellFormed: boolean;
  readonly problems: readonly ProjectProblem[];
}

/** Ends the reading: what follows cannot be read, or would cost too much. */
class Unreadable extends Error {
  readonly at: number;
  constructor(at: number, state: string) {
    super(state);
    this.at = at;
  }
}

/**
 * The one YAML document in `text`, by the core schema, with the position of every value. A key may stand once; tags,
 * directives and keys that are no text are refused. An alias stands for a copy of what it names.
 */
export function readLocated(text: string): LocatedDocument {
  try {
    const composer = new Composer({
      schema: "core",
      resolveKnownTags: false,
      uniqueKeys: false,
      prettyErrors: false,
      keepSourceTokens: true,
    });
    const [document, second] = composer.compose(nodesOf(text), true, text.length);
    if (second !== undefined) throw new Unreadable(second.range[0], "it holds more than one document");
    // The first one: others follow from it.
    const fault = document?.errors[0] ?? document?.warnings[0];
    const reader = new Reader();
    const contents = document?.contents ?? undefined;
    const root = contents === undefined ? undefined : reader.read(contents, []);
    if (fault === undefined) return { root, wellFormed: true, problems: reader.problems };
    const state = `it is not YAML: ${escapeLine(fault.message.slice(0, 200))}`;
    return { root, wellFormed: false, problems: [problemAt(fault.pos[0], [], state)] };
  } catch (err) {
    if (!(err instanceof Unreadable)) throw err;
    return { root: undefined, wellFormed: false, problems: [problemAt(err.at, [], err.message)] };
  }
}

/** The syntax of the text, token by token: too many or too deep ones are refused before they cost anything. */
function* nodesOf(text: string): Generator<CST.Token, void> {
  const parser = new Parser();
  let tokens = 0;
  for (const source of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > most.tokens) throw new Unreadable(parser.offset, `it has more than ${most.tokens} tokens`);
    for (const token of parser.next(source)) {
      if (token.type === "directive") throw new Unreadable(token.offset, "it has a YAML directive");
      yield token;
    }
    // The document itself and the scalar being read are on the stack, too; levels are counted when values are made.
    if (parser.stack.length > most.depth + 2) throw new Unreadable(parser.offset, tooDeep);
  }
  yield* parser.end();
}

/** Converts nodes to values. The node behind an alias is read again at each use, and counts there. */
class Reader {
  readonly problems: ProjectProblem[] = [];
  readonly #anchors = new Map<string, unknown>();
  #aliases = 0;
  #nodes = 0;

  /** `level` is the nesting level of a collection at this place, from 1. */
  read(node: unknown, path: LocatedPath, level = 1): Located {
    if (isAlias(node)) return this.read(this.#named(node.source, offsetOf(node)), path, level);
    const value = this.#value(node, path, level);
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    // Only now: an alias inside its own anchor would recurse without end.
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return value;
  }

  #value(node: unknown, path: LocatedPath, level: number): Located {
    const at = offsetOf(node);
    this.#nodes += 1;
    if (this.#nodes > most.nodes) throw new Unreadable(at, `its aliases make more than ${most.nodes} values`);
    if (isScalar(node)) {
      const { value, source } = node;
      const plain = typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
      return { kind: "scalar", at, value: plain, source: source ?? String(value), variables: "none" };
    }
    if (level > most.depth) throw new Unreadable(at, tooDeep);
    if (isSeq(node)) {
      const items = node.items.map((item, index) => this.read(item, [...path, index], level + 1));
      return { kind: "list", at, items };
    }
    if (!isMap(node)) throw new Unreadable(at, "it holds something that is not a value");
    const entries = new Map<string, LocatedEntry>();
    for (const { key, value } of node.items) {
      const name = nameOf(key);
      const keyAt = offsetOf(key);
      if (name === undefined) this.problems.push(problemAt(keyAt, path, "a key is not a text"));
      else if (refusedKeys.has(name)) this.problems.push(problemAt(keyAt, path, `key ${quoted(name)} is not allowed`));
      else if (entries.has(name)) this.problems.push(problemAt(keyAt, [...path, name], "it comes twice"));
      else
        entries.set(name, {
          keyAt,
          value: value === null ? emptyAt(keyAt) : this.read(value, [...path, name], level + 1),
        });
    }
    return { kind: "map", at, entries };
  }

  #named(anchor: string, at: number): unknown {
    this.#aliases += 1;
    if (this.#aliases > most.aliases) throw new Unreadable(at, `it has more than ${most.aliases} aliases`);
    const node = this.#anchors.get(anchor);
    if (node === undefined) throw new Unreadable(at, `alias ${quoted(anchor)} names nothing before it`);
    return node;
  }
}

/** A key as it is written, so that `1e3`, `true` and `null` are names, too; undefined for one that is no text. */
function nameOf(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  const { value, source } = key;
  return typeof value === "string" ? value : source === "" ? undefined : source;
}

/** The value of `? key` without one. */
function emptyAt(at: number): Located {
  return { kind: "scalar", at, value: null, source: "", variables: "none" };
}

function offsetOf(node: unknown): number {
  return isAlias(node) || isMap(node) || isSeq(node) || isScalar(node) ? (node.range?.[0] ?? 0) : 0;
}
