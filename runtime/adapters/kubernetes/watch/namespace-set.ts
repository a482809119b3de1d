/** The set of function namespaces, and its changes. */
export interface NamespaceSet {
  /** The only namespace there can be; absent when there may be many. */
  readonly only?: string;
  /** Those that are known now. */
  readonly names: ReadonlySet<string>;
  /** Resolves when all are known for the first time. */
  readonly synced: Promise<void>;
  /** Calls `listener` for each namespace added or removed from now on; returns a function that ends this. */
  listen(listener: (name: string, isThere: boolean) => void): () => void;
}

/** A set that never changes, for editions with one namespace. */
export function fixedNamespaces(...names: readonly string[]): NamespaceSet {
  const [only, ...others] = names;
  const one = only === undefined || others.length > 0 ? {} : { only };
  return { ...one, names: new Set(names), synced: Promise.resolve(), listen: () => () => {} };
}
