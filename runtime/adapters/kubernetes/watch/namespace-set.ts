/** The namespaces of functions as they come and go. */
export interface NamespaceSet {
  /** The only one there can ever be; absent: they may be many. */
  readonly only?: string;
  /** Those that are known now. */
  readonly names: ReadonlySet<string>;
  /** Resolves when all are known for the first time. */
  readonly synced: Promise<void>;
  /** Calls `listener` with each that comes or goes from now on; what it gives back ends that. */
  listen(listener: (name: string, isThere: boolean) => void): () => void;
}

/** Namespaces that never change: editions with one have it. */
export function fixedNamespaces(...names: readonly string[]): NamespaceSet {
  const [only, ...others] = names;
  const one = only === undefined || others.length > 0 ? {} : { only };
  return { ...one, names: new Set(names), synced: Promise.resolve(), listen: () => () => {} };
}
