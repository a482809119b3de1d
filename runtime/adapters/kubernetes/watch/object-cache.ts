import type { KubeObject } from "../client/kube-types.ts";
import { compareVersions, isNotNewer } from "./resource-version.ts";
import type { WatchEvent } from "./watch-decoder.ts";

/** An object became known, changed, or is gone: `before` is missing for a new one, `after` for one that is gone. */
export interface ObjectChange<K> {
  /** `namespace/name`, of kinds without namespace `name`. */
  readonly key: string;
  readonly before: K | undefined;
  readonly after: K | undefined;
}

/** Which object a value was made of. */
interface Version {
  readonly uid: string | undefined;
  readonly version: string;
}

/** What is kept of one object, and of which version. */
export interface KeptObject<K> extends Version {
  readonly key: string;
  readonly value: K;
}

type ObjectEvent = Extract<WatchEvent, { readonly object: KubeObject }>;

/** Deletions remembered so that an older event does not bring an object back. */
const mostDeletions = 1_000;

/** `namespace/name`, of kinds without namespace `name`. */
export function keyOf({ metadata: { namespace, name = "" } }: KubeObject): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** The way back, for kinds with namespaces. */
export function placeOfKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * What is known of the objects of a kind from a list and the events after it. An event that comes twice or late changes
 * nothing, as far as the order of versions can be known (`compareVersions`); a list replaces everything.
 */
export class ObjectCache<T extends KubeObject, K> {
  readonly #keep: (object: T) => K;
  readonly #deletions = new Map<string, Version>();
  #values = new Map<string, K>();
  #versions = new Map<string, Version>();
  /** Of the last list: what it does not hold was gone by then. */
  #listed = "";

  constructor(keep: (object: T) => K) {
    this.#keep = keep;
  }

  /** As it is now: it changes with the next event, and is another after the next list. */
  get objects(): ReadonlyMap<string, K> {
    return this.#values;
  }

  keep(object: T): KeptObject<K> {
    const { uid, resourceVersion = "" } = object.metadata;
    return { key: keyOf(object), uid, version: resourceVersion, value: this.#keep(object) };
  }

  /** From now on `items` is all there is. Values of objects that did not change stay the same. */
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

  /** What the event changes, or undefined when nothing. */
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
    // A deletion may carry the version of what it deletes, where another server than Kubernetes' own made it.
    const order = compareVersions(next.version, old);
    if (order !== undefined && (order < 0 || (order === 0 && known === undefined))) return undefined;
    // At the end of the order in which they were made: the oldest are forgotten first.
    this.#deletions.delete(key);
    this.#deletions.set(key, next);
    for (const oldest of this.#deletions.keys()) {
      if (this.#deletions.size <= mostDeletions) break;
      this.#deletions.delete(oldest);
    }
    const before = this.#values.get(key);
    this.#versions.delete(key);
    this.#values.delete(key);
    return known === undefined ? undefined : { key, before, after: undefined };
  }
}
