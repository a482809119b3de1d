/** A value of a YAML document; `at` is where it begins, an offset in the text. */
export type Located = LocatedScalar | LocatedList | LocatedMap;

export interface LocatedScalar {
  readonly kind: "scalar";
  readonly at: number;
  readonly value: string | number | boolean | null;
  /** As it is written. */
  readonly source: string;
  /** `replaced` ones are not shown, as they may hold secrets; with a `missing` one the value is not known. */
  readonly variables: "none" | "replaced" | "missing";
}

export interface LocatedList {
  readonly kind: "list";
  readonly at: number;
  readonly items: readonly Located[];
}

export interface LocatedMap {
  readonly kind: "map";
  readonly at: number;
  readonly entries: ReadonlyMap<string, LocatedEntry>;
}

export interface LocatedEntry {
  readonly keyAt: number;
  readonly value: Located;
}

/** Keys and indices from the document to a value in it. */
export type LocatedPath = readonly (string | number)[];

/** The same value without positions. */
export function plainValue(located: Located): unknown {
  switch (located.kind) {
    case "scalar":
      return located.value;
    case "list":
      return located.items.map(plainValue);
    case "map":
      return Object.fromEntries([...located.entries].map(([key, { value }]) => [key, plainValue(value)]));
    default:
      return located satisfies never;
  }
}

/** The entry of a mapping at `path`; undefined where there is none. */
export function entryAt(root: Located, ...path: readonly string[]): LocatedEntry | undefined {
  let found: LocatedEntry | undefined;
  let at: Located | undefined = root;
  for (const key of path) {
    found = at?.kind === "map" ? at.entries.get(key) : undefined;
    at = found?.value;
  }
  return found;
}

/** The text at `path`; undefined for anything else. */
export function textAt(
  root: Located,
  ...path: readonly string[]
): (LocatedScalar & { readonly value: string }) | undefined {
  const found = entryAt(root, ...path)?.value;
  return found === undefined ? undefined : asText(found);
}

/** The value if it is a text. */
export function asText(located: Located): (LocatedScalar & { readonly value: string }) | undefined {
  if (located.kind !== "scalar") return undefined;
  const { value } = located;
  return typeof value === "string" ? { ...located, value } : undefined;
}
