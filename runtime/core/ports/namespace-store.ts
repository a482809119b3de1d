/** One namespace of functions. */
export interface NamespaceEntry {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** RFC 3339; distinguishes it from an earlier namespace of the same name. */
  readonly createdAt: string;
  /** Hidden from clients; the entry is removed once its content is gone. */
  readonly deleting: boolean;
}

/** Receives every namespace: all existing ones, then `synced`, then each change as it happens. */
export interface NamespaceObserver {
  set(entry: NamespaceEntry): void;
  removed(name: string): void;
  /** Called once all namespaces present at the start are reported, and again after the source was lost and re-read. */
  synced(): void;
}

/**
 * Keeps namespaces, including those being deleted.
 *
 * - `write` reads, calls `change` and stores its result by compare-and-set; on a conflict it starts again. When
 *   `change` throws, `write` rejects with that and nothing is stored.
 * - A write is visible to `get` and `list` as soon as it resolves, to observers soon after, in order per namespace.
 * - All reject with `provider_unavailable` when the store cannot be reached.
 */
export interface NamespaceStore {
  get(name: string): Promise<NamespaceEntry | undefined>;
  /** Sorted by name. */
  list(): Promise<readonly NamespaceEntry[]>;
  write(name: string, change: (current: NamespaceEntry | undefined) => NamespaceEntry): Promise<NamespaceEntry>;
  /** Resolves also when there is nothing to remove. */
  remove(name: string): Promise<void>;
  /** Resolves once `synced` was called the first time; the returned function ends the watch. */
  watch(observer: NamespaceObserver): Promise<() => void>;
}
