import type { KubeClient } from "../client/client.ts";
import type { Kind } from "../client/kinds.ts";
import type { KubeObject } from "../client/kube-types.ts";
import type { NamespaceSet } from "./namespace-set.ts";
import { placeOfKey, type ObjectChange } from "./object-cache.ts";
import { KubeWatch, type WatchOptions } from "./watch.ts";

type Listener<K> = (change: ObjectChange<K>) => void;
type Options<T, K> = Omit<WatchOptions<T, K>, "namespace" | "fieldSelector">;

/**
 * All objects of a kind in the function namespaces, by a single watch: of the one namespace where there is only one,
 * else of the whole cluster. Objects of other namespaces are cached, in case their namespace becomes a function
 * namespace, but not reported. The objects of a namespace are reported as new when it is added, and as gone when it is
 * removed.
 */
export class NamespacedWatch<T extends KubeObject, K> {
  /** Resolves when all objects and all namespaces are known for the first time; rejects when it is closed before. */
  readonly synced: Promise<void>;
  readonly #watch: KubeWatch<T, K>;
  readonly #namespaces: Set<string>;
  readonly #listeners = new Set<Listener<K>>();
  readonly #unlisten: () => void;

  constructor(client: KubeClient, kind: Kind, namespaces: NamespaceSet, options: Options<T, K>) {
    const place = namespaces.only === undefined ? {} : { namespace: namespaces.only };
    this.#watch = new KubeWatch<T, K>(client, kind, { ...options, ...place });
    this.#namespaces = new Set(namespaces.names);
    this.#unlisten = namespaces.listen((name, isThere) => (isThere ? this.#add(name) : this.#remove(name)));
    this.#watch.listen((change) => {
      if (this.#namespaces.has(placeOfKey(change.key).namespace)) this.#notify(change);
    });
    this.synced = Promise.all([namespaces.synced, this.#watch.synced]).then(() => {});
    // Callers need not await it, so its rejection must not count as unhandled.
    this.synced.catch(() => {});
  }

  /** What is known of one object. */
  find(namespace: string, name: string): K | undefined {
    return this.#namespaces.has(namespace) ? this.#watch.objects.get(`${namespace}/${name}`) : undefined;
  }

  /** All that is known, by `namespace/name`. */
  *entries(): Generator<readonly [string, K]> {
    for (const entry of this.#watch.objects) if (this.#namespaces.has(placeOfKey(entry[0]).namespace)) yield entry;
  }

  /** Milliseconds since the API server last sent something about these objects. */
  get age(): number {
    return this.#watch.age;
  }

  /** Calls `listener` with each change from now on, in order per object; returns a function that ends this. */
  listen(listener: Listener<K>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when nothing is in flight any more. */
  async close(): Promise<void> {
    this.#unlisten();
    await this.#watch.close();
  }

  #add(namespace: string): void {
    if (this.#namespaces.has(namespace)) return;
    this.#namespaces.add(namespace);
    for (const [key, after] of this.#objectsOf(namespace)) this.#notify({ key, before: undefined, after });
  }

  #remove(namespace: string): void {
    if (!this.#namespaces.delete(namespace)) return;
    for (const [key, before] of this.#objectsOf(namespace)) this.#notify({ key, before, after: undefined });
  }

  /** Scans all objects: namespaces seldom come and go, and without a listener nothing is scanned. */
  #objectsOf(namespace: string): readonly (readonly [string, K])[] {
    if (this.#listeners.size === 0) return [];
    return [...this.#watch.objects].filter(([key]) => key.startsWith(`${namespace}/`));
  }

  #notify(change: ObjectChange<K>): void {
    for (const listener of this.#listeners) listener(change);
  }
}
