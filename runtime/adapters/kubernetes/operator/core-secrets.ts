import { managedByWeir, objectLabel } from "../../../api/names.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { listObjects } from "../client/list-objects.ts";
import { contentHash } from "../manifests/content-hash.ts";
import type { SecretFacts } from "../manifests/status/function-fault.ts";
import { outlineText } from "../stores/secret-outline.ts";
import { signingValue } from "./signing-value.ts";
import { plainType, secretReference, type CoreSecret, type ReferringSecret } from "../stores/secret-reference.ts";

/** A core Secret without its values. */
export interface SecretShape extends SecretFacts {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The reference that belongs beside it; undefined when it does not carry the platform's label. */
  readonly reference: ReferringSecret | undefined;
  /** Its outline, as an annotation of the reference holds it. */
  readonly outline: string;
  /** Why callbacks cannot be signed with it; absent when they can. */
  readonly signingFault?: string;
}

/** A core Secret that is found to be new, changed or gone. */
export interface SecretChange {
  readonly namespace: string;
  readonly name: string;
  /** It had not been looked up before. */
  readonly isFirst: boolean;
}

interface Known {
  /** Undefined when there is no such Secret. */
  readonly shape: SecretShape | undefined;
  readonly until: number;
}

const ours = `${objectLabel.managedBy}=${managedByWeir}`;
/** Milliseconds for which a Secret without our label is cached; those with it are listed. */
const foundFor = 300_000;
/** Milliseconds for which a missing one is cached: functions that wait for it are reconciled every five seconds. */
const missingFor = 4_000;

/**
 * Core Secrets without their values, which are dropped as they arrive. They are never watched: one watch of the cluster
 * would need a right to all of them, and one watch per namespace a connection each. Those with the platform's label are
 * listed before the first look-up in their namespace, and whenever `list` is called; others are read when needed.
 */
export class CoreSecrets {
  readonly #client: KubeClient;
  readonly #now: () => number;
  readonly #namespaces = new Map<string, Map<string, Known>>();
  readonly #listings = new Map<string, Promise<void>>();
  readonly #listeners = new Set<(change: SecretChange) => void>();

  /** `now` is in monotonic milliseconds. */
  constructor(client: KubeClient, now: () => number = () => performance.now()) {
    this.#client = client;
    this.#now = now;
  }

  /** Undefined when there is none. Rejects as the client does. */
  async find(namespace: string, name: string): Promise<SecretShape | undefined> {
    if (!this.#namespaces.has(namespace)) await this.list(namespace);
    const known = this.#namespaces.get(namespace)?.get(name);
    if (known !== undefined && this.#now() < known.until) return known.shape;
    const secret = await this.#client.find<CoreSecret>(kinds.coreSecret, { namespace, name });
    const shape = secret && secretShape(secret);
    this.#learn(namespace, name, shape);
    return shape;
  }

  /** Lists all Secrets of a namespace that carry the label. Rejects as the client does. */
  list(namespace: string): Promise<void> {
    const listing = this.#listings.get(namespace) ?? this.#list(namespace);
    this.#listings.set(namespace, listing);
    return listing.finally(() => this.#listings.delete(namespace));
  }

  /** The Secret may have changed: the next `find` reads it again. */
  expire(namespace: string, name: string): void {
    const names = this.#namespaces.get(namespace);
    const known = names?.get(name);
    if (known !== undefined) names?.set(name, { ...known, until: Number.NEGATIVE_INFINITY });
  }

  /** Evicts the Secrets of a namespace that is gone. */
  forget(namespace: string): void {
    this.#namespaces.delete(namespace);
  }

  /** Calls `listener` with each change that is noticed from now on; returns a function that ends this. */
  listen(listener: (change: SecretChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #list(namespace: string): Promise<void> {
    const query = { namespace, labelSelector: ours };
    const { items } = await listObjects(this.#client, kinds.coreSecret, query, secretShape);
    const names = this.#namespaces.get(namespace) ?? new Map<string, Known>();
    this.#namespaces.set(namespace, names);
    const listed = new Set(items.map(({ name }) => name));
    for (const shape of items) this.#learn(namespace, shape.name, shape);
    const missing = [...names].filter(([name, { shape }]) => shape?.reference !== undefined && !listed.has(name));
    for (const [name] of missing) {
      // Gone, or no longer labelled.
      this.expire(namespace, name);
      await this.find(namespace, name);
    }
  }

  #learn(namespace: string, name: string, shape: SecretShape | undefined): void {
    const names = this.#namespaces.get(namespace);
    const known = names?.get(name);
    const isListed = shape?.reference !== undefined;
    const lifetime = isListed ? Number.POSITIVE_INFINITY : shape === undefined ? missingFor : foundFor;
    names?.set(name, { shape, until: this.#now() + lifetime });
    const isSame = known === undefined ? shape === undefined : isEqual(known.shape, shape);
    if (isSame) return;
    for (const listener of this.#listeners) listener({ namespace, name, isFirst: known === undefined });
  }
}

function isEqual(a: SecretShape | undefined, b: SecretShape | undefined): boolean {
  return a === undefined || b === undefined ? a === b : contentHash(a) === contentHash(b);
}

/** Drops the values at once: no cache of the operator ever holds one. */
function secretShape(secret: CoreSecret): SecretShape {
  const { metadata, type = plainType, data = {} } = secret;
  const { uid = "", namespace = "", name = "" } = metadata;
  const keys = Object.keys(data).sort();
  const signing = signingValue(secret);
  return {
    uid,
    namespace,
    name,
    type,
    keys,
    reference: secretReference(secret),
    outline: outlineText(metadata, keys),
    ...(signing.kind === "usable" ? {} : { signingFault: signing.why }),
  };
}
