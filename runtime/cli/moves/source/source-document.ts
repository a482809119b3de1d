import type { Located, LocatedMap } from "../../project/located.ts";

/** One document of a file that is imported. */
export interface SourceDocument {
  /** As it was named on the command line. */
  readonly file: string;
  /** Positions are offsets in the file. */
  readonly root: Located;
  /** What is written before its first value. */
  readonly comments: string;
}

/** A text, number, truth value or nothing. */
export type SourceScalar = Extract<Located, { readonly kind: "scalar" }>;

/** Keys of a map and their values. */
export type SourceEntries = ReadonlyMap<string, Located>;

/** The entries of a map; none when it is something else. */
export function entriesOf(source: Located | undefined): SourceEntries {
  if (source?.kind !== "map") return new Map();
  return new Map([...source.entries].map(([key, { value }]) => [key, value]));
}

/** A scalar as it is written: `1.0` and not `1`; undefined when it is empty or something else. */
export function sourceText(source: Located | undefined): string | undefined {
  return source?.kind === "scalar" && source.value !== null ? scalarText(source) : undefined;
}

/** See above. */
export function scalarText({ value, source }: SourceScalar): string {
  return typeof value === "string" ? value : source;
}

/** Whether nothing is said: a key without a value. */
export function isEmpty(source: Located): boolean {
  return source.kind === "scalar" && source.value === null;
}

/** The texts of a map, by key. */
export function textsOf(source: Located | undefined): ReadonlyMap<string, string> {
  return new Map([...entriesOf(source)].map(([key, each]) => [key, sourceText(each) ?? ""]));
}

/** Every text in a value, of scalars and not of keys. */
export function sourceTexts(source: Located): readonly string[] {
  switch (source.kind) {
    case "scalar":
      return [scalarText(source)];
    case "list":
      return source.items.flatMap(sourceTexts);
    case "map":
      return [...source.entries.values()].flatMap(({ value }) => sourceTexts(value));
    default:
      return source satisfies never;
  }
}

/** The value with the entries that `<<` adds to maps, as in YAML 1.1; keys that are written win. */
export function withMerged(source: Located): Located {
  switch (source.kind) {
    case "scalar":
      return source;
    case "list":
      return { ...source, items: source.items.map(withMerged) };
    case "map":
      return merged(source);
    default:
      return source satisfies never;
  }
}

function merged(source: LocatedMap): LocatedMap {
  const { "<<": added, ...own } = Object.fromEntries(source.entries);
  const below = added === undefined ? [] : added.value.kind === "list" ? added.value.items : [added.value];
  const entries = new Map(Object.entries(own));
  for (const each of below)
    if (each.kind === "map") for (const [key, entry] of each.entries) if (!entries.has(key)) entries.set(key, entry);
  return {
    ...source,
    entries: new Map([...entries].map(([key, entry]) => [key, { ...entry, value: withMerged(entry.value) }])),
  };
}
