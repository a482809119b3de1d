/** One namespace of functions. */
export interface NamespaceEntry {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** RFC 3339; tells it from an earlier one of the same name. */
  readonly createdAt: string;
  /** Unknown to clients; the entry goes when nothing of its content is left. */
  readonly deleting: boolean;
}

/** Hears of every namespace: all that are there, then `synced`, then each change as it happens. */
export interface NamespaceObserver {
  set(entry: NamespaceEntry): void;
  removed(name: string): void;
  /** Called once all namespaces present at the start have been told, and again after the source was lost and re-read. */
  synced(): void;
}

/**
 * Keeps namespaces, those being deleted too.
 *
 * - `write` reads, asks `change` and stores what it returns only if nobody wrote in between; else it begins again.
 *   What `change` throws ends it with nothing stored.
 * - A write is seen by `get` and `list` as soon as it resolves, by observers soon after, in order per namespace.
 * - All reject with `provider_unavailable` when the store cannot be reached.
 */
export interface NamespaceStore {
  get(name: string): Promise<NamespaceEntry | undefined>;
  /** Sorted by name. */
  list(): Promise<readonly NamespaceEntry[]>;
  write(name: string, change: (current: NamespaceEntry | undefined) => NamespaceEntry): Promise<NamespaceEntry>;
  /** Content when there is nothing to remove. */
  remove(name: string): Promise<void>;
  /** Resolves once `synced` was called the first time; the function it gives ends the watch. */
  watch(observer: NamespaceObserver): Promise<() => void>;
}
