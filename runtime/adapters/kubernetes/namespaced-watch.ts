import { setTimeout as pause } from "node:timers/promises";

import type { KubeClient } from "./client.ts";
import type { Kind } from "./kinds.ts";
import { isForbidden } from "./kube-refusal.ts";
import type { KubeObject } from "./kube-types.ts";
import type { NamespaceSet } from "./namespace-set.ts";
import type { ObjectChange } from "./object-cache.ts";
import { KubeWatch, type WatchOptions } from "./watch.ts";

type Listener<K> = (change: ObjectChange<K>) => void;
interface Options<T, K> extends Omit<WatchOptions<T, K>, "namespace" | "fieldSelector"> {
  /** Milliseconds that a namespace which may not be looked into is waited for: rights come after it. */
  readonly refusedFor?: number;
}

/**
 * All objects of a kind in the namespaces of functions, one watch each: the accounts of Weir may look into no others.
 * What lies in a namespace is told as gone when the namespace is.
 */
export class NamespacedWatch<T extends KubeObject, K> {
  /**
   * Resolves when all objects of all namespaces are known that were there at the start. One that may not be looked into
   * for 15 s counts as empty: whoever marks a namespace must not keep the platform from starting.
   */
  readonly synced: Promise<void>;
  readonly #client: KubeClient;
  readonly #kind: Kind;
  readonly #options: Options<T, K>;
  readonly #watches = new Map<string, KubeWatch<T, K>>();
  readonly #listeners = new Set<Listener<K>>();
  readonly #unhear: () => void;
  readonly #endings = new Set<Promise<void>>();
  /** Aborted at the end. */
  readonly #closing = new AbortController();
  readonly #refused = new Map<string, PromiseWithResolvers<void>>();
  #closed = false;

  constructor(client: KubeClient, kind: Kind, namespaces: NamespaceSet, options: Options<T, K>) {
    this.#client = client;
    this.#kind = kind;
    this.#options = options;
    this.#unhear = namespaces.listen((name, isThere) => (isThere ? this.#begin(name) : this.#end(name)));
    for (const name of namespaces.names) this.#begin(name);
    this.synced = this.#sync(namespaces);
    // Nobody need wait for it.
    this.synced.catch(() => {});
  }

  /** What is known of one object. */
  find(namespace: string, name: string): K | undefined {
    return this.#watches.get(namespace)?.objects.get(`${namespace}/${name}`);
  }

  /** All that is known, by `namespace/name`. */
  *entries(): Generator<readonly [string, K]> {
    for (const watch of this.#watches.values()) yield* watch.objects.entries();
  }

  /** Milliseconds since the API server last said something, in the namespace of which it was longest ago. */
  get age(): number {
    return Math.max(0, ...[...this.#watches.values()].map(({ age }) => age));
  }

  /** Calls `listener` with each change from now on, in order per object; what it gives back ends that. */
  listen(listener: Listener<K>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.abort();
    this.#unhear();
    for (const name of this.#watches.keys()) this.#end(name);
    await Promise.all(this.#endings);
  }

  async #sync(namespaces: NamespaceSet): Promise<void> {
    await namespaces.synced;
    // One that goes meanwhile is waited for no more.
    const waits = [...this.#watches].map(([name, watch]) =>
      Promise.race([watch.synced, this.#refused.get(name)?.promise.then(() => this.#patience())]).catch(
        (err: unknown) => {
          if (this.#closed || this.#watches.get(name) === watch) throw err;
        },
      ),
    );
    await Promise.all(waits);
  }

  async #patience(): Promise<void> {
    await pause(this.#options.refusedFor ?? 15_000, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  #begin(namespace: string): void {
    if (this.#closed || this.#watches.has(namespace)) return;
    const { refusedFor: _, ...options } = this.#options;
    const refused = Promise.withResolvers<void>();
    this.#refused.set(namespace, refused);
    const onTrouble = (err: unknown): void => {
      if (isForbidden(err)) refused.resolve();
      this.#options.onTrouble?.(err);
    };
    const watch = new KubeWatch<T, K>(this.#client, this.#kind, { ...options, onTrouble, namespace });
    this.#watches.set(namespace, watch);
    watch.listen((change) => this.#tell(change));
  }

  #end(namespace: string): void {
    const watch = this.#watches.get(namespace);
    if (watch === undefined) return;
    this.#watches.delete(namespace);
    this.#refused.delete(namespace);
    const ending = watch.close().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    if (this.#closed) return;
    for (const [key, before] of watch.objects) this.#tell({ key, before, after: undefined });
  }

  #tell(change: ObjectChange<K>): void {
    for (const listener of this.#listeners) listener(change);
  }
}
