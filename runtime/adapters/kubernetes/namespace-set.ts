/** The namespaces of functions as they come and go. */
export interface NamespaceSet {
  /** Those that are known now. */
  readonly names: ReadonlySet<string>;
  /** Resolves when all are known for the first time. */
  readonly synced: Promise<void>;
  /** Calls `listener` with each that comes or goes from now on; what it gives back ends that. */
  listen(listener: (name: string, isThere: boolean) => void): () => void;
}

/** Namespaces that never change: editions with one have it. */
export function fixedNamespaces(...names: readonly string[]): NamespaceSet {
  return { names: new Set(names), synced: Promise.resolve(), listen: () => () => {} };
}
