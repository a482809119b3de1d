import { randomUUID } from "node:crypto";

import { apiVersionOf, type Kind } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import type { KubeObject } from "../../runtime/adapters/kubernetes/client/kube-types.ts";

/** A change of the store, as its watches get it. */
export interface StoredEvent {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly plural: string;
  readonly object: KubeObject;
}

/** Objects by plural of their kind and `namespace/name`, with one version for all, as etcd keeps them. */
export class KubernetesStore {
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners = new Set<(event: StoredEvent) => void>();
  history: StoredEvent[] = [];
  version = 100;
  /** Changes up to this version are compacted. */
  compactedAt = 0;

  /** Sorted by name, as the API server lists them. */
  list(plural: string): readonly KubeObject[] {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(`${plural}/`)).sort();
    return keys.flatMap((key) => this.#objects.get(key) ?? []);
  }

  get(plural: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#objects.get(keyOf(plural, namespace, name));
  }

  /** Creates or replaces; returns the stored object. */
  write(kind: Kind, object: KubeObject): KubeObject {
    return this.put(kind.plural, { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
  }

  put(plural: string, object: KubeObject): KubeObject {
    const { namespace, name = "" } = object.metadata;
    const key = keyOf(plural, namespace, name);
    const before = this.#objects.get(key);
    this.version += 1;
    const metadata = {
      ...object.metadata,
      uid: before?.metadata.uid ?? randomUUID(),
      creationTimestamp: (before ?? object).metadata.creationTimestamp ?? `${new Date().toISOString().slice(0, 19)}Z`,
      resourceVersion: String(this.version),
    };
    const stored = { ...object, metadata };
    this.#objects.set(key, stored);
    this.#add(before === undefined ? "ADDED" : "MODIFIED", plural, stored);
    return stored;
  }

  remove(plural: string, namespace: string | undefined, name: string): KubeObject | undefined {
    const key = keyOf(plural, namespace, name);
    const before = this.#objects.get(key);
    if (before === undefined) return undefined;
    this.#objects.delete(key);
    this.version += 1;
    const metadata = { ...before.metadata, resourceVersion: String(this.version) };
    this.#add("DELETED", plural, { ...before, metadata });
    return before;
  }

  /** Drops the history: a watch from an older version gets 410. */
  compact(): void {
    this.compactedAt = this.version;
    this.history = [];
  }

  listen(listener: (event: StoredEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #add(type: StoredEvent["type"], plural: string, object: KubeObject): void {
    const event = { version: this.version, type, plural, object };
    this.history.push(event);
    for (const listener of this.#listeners) listener(event);
  }
}

function keyOf(plural: string, namespace: string | undefined, name: string): string {
  return `${plural}/${namespace ?? ""}/${name}`;
}
