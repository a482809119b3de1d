import type { KubeObject } from "../client/kube-types.ts";
import { compareResourceVersions, isNotNewer } from "./resource-version.ts";
import type { WatchEvent } from "./watch-decoder.ts";

/** A change of an object: `before` is undefined for a new one, `after` for one that is gone. */
export interface ObjectChange<K> {
  /** `namespace/name`; `name` for kinds without namespace. */
  readonly key: string;
  readonly before: K | undefined;
  readonly after: K | undefined;
}

/** The object and version that a value was made from. */
interface Version {
  readonly uid: string | undefined;
  readonly version: string;
}

/** What is kept of one object, and the version it is from. */
export interface KeptObject<K> extends Version {
  readonly key: string;
  readonly value: K;
}

type ObjectEvent = Extract<WatchEvent, { readonly object: KubeObject }>;

/** Deletions kept, so that an older event does not bring an object back. */
const maxDeletions = 1_000;

/** `namespace/name`; `name` for kinds without namespace. */
export function keyOf({ metadata: { namespace, name = "" } }: KubeObject): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** The inverse of `keyOf`, for kinds with namespaces. */
export function placeOfKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * The objects of a kind, from a list and the events after it. An event that comes twice or late changes nothing, as far
 * as the order of versions can be known (`compareResourceVersions`); a list replaces everything.
 */
export class ObjectCache<T extends KubeObject, K> {
  readonly #keep: (object: T) => K;
  readonly #deletions = new Map<string, Version>();
  #values = new Map<string, K>();
  #versions = new Map<string, Version>();
  /** Version of the last list: objects that are not in it were gone by then. */
  #listed = "";

  constructor(keep: (object: T) => K) {
    this.#keep = keep;
  }

  /** The live map: events change it, and a list replaces it by another one. */
  get objects(): ReadonlyMap<string, K> {
    return this.#values;
  }

  keep(object: T): KeptObject<K> {
    const { uid, resourceVersion = "" } = object.metadata;
    return { key: keyOf(object), uid, version: resourceVersion, value: this.#keep(object) };
  }

  /** Replaces all objects by `items`. Unchanged objects keep their value, by identity. */
  replaceAll(items: readonly KeptObject<K>[], resourceVersion: string): readonly ObjectChange<K>[] {
    const [before, versionsBefore] = [this.#values, this.#versions];
    this.#values = new Map();
    this.#versions = new Map();
    const changes: ObjectChange<K>[] = [];
    for (const { key, uid, version, value } of items) {
      const known = versionsBefore.get(key);
      const old = before.get(key);
      const isSame = known !== undefined && known.uid === uid && known.version === version && old !== undefined;
      this.#values.set(key, isSame ? old : value);
      this.#versions.set(key, { uid, version });
      if (!isSame) changes.push({ key, before: old, after: value });
    }
    for (const [key, value] of before) {
      if (!this.#versions.has(key)) changes.push({ key, before: value, after: undefined });
    }
    this.#deletions.clear();
    this.#listed = resourceVersion;
    return changes;
  }

  /** The change that the event makes; undefined for none. */
  apply({ type, object }: ObjectEvent): ObjectChange<K> | undefined {
    const key = keyOf(object);
    const { uid, resourceVersion: version = "" } = object.metadata;
    return type === "DELETED" ? this.#remove(key, { uid, version }) : this.#set(key, { uid, version }, object as T);
  }

  #set(key: string, next: Version, object: T): ObjectChange<K> | undefined {
    const known = this.#versions.get(key);
    const old = known?.version ?? this.#deletions.get(key)?.version ?? this.#listed;
    if (isNotNewer(next.version, old)) return undefined;
    const change = { key, before: this.#values.get(key), after: this.#keep(object) };
    this.#deletions.delete(key);
    this.#versions.set(key, next);
    this.#values.set(key, change.after);
    return change;
  }

  #remove(key: string, next: Version): ObjectChange<K> | undefined {
    const known = this.#versions.get(key);
    const old = known?.version ?? this.#deletions.get(key)?.version ?? this.#listed;
    // Servers other than Kubernetes' own may send a deletion with the version of the object that it deletes.
    const order = compareResourceVersions(next.version, old);
    if (order !== undefined && (order < 0 || (order === 0 && known === undefined))) return undefined;
    // Deleted first so that it goes to the end of the map: the oldest are evicted first.
    this.#deletions.delete(key);
    this.#deletions.set(key, next);
    for (const oldest of this.#deletions.keys()) {
      if (this.#deletions.size <= maxDeletions) break;
      this.#deletions.delete(oldest);
    }
    const before = this.#values.get(key);
    this.#versions.delete(key);
    this.#values.delete(key);
    return known === undefined ? undefined : { key, before, after: undefined };
  }
}
