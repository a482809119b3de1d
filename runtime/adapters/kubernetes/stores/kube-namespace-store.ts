import { setTimeout as pause } from "node:timers/promises";

import { isNamespaceName } from "../../../api/grammar.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { NamespaceEntry, NamespaceObserver, NamespaceStore } from "../../../core/ports/namespace-store.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { isNotFound } from "../client/kube-refusal.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { listObjects } from "../client/list-objects.ts";
import { contentHash } from "../manifests/content-hash.ts";
import {
  checkNamespaceKeys,
  namespaceEntry,
  namespaceObject,
  type NamespaceOwnership,
} from "../manifests/namespace-entry.ts";
import type { NamespaceSet } from "../watch/namespace-set.ts";
import type { ObjectChange } from "../watch/object-cache.ts";
import { KubeWatch } from "../watch/watch.ts";
import { retryOnConflict } from "../client/write-object.ts";

/** Milliseconds. */
const removalTimeout = 120_000;

/** Options of the namespace store. */
export interface NamespaceOptions extends NamespaceOwnership {
  /** Milliseconds to wait until functions can be written in a new namespace; absent: no wait. */
  readonly rightsWithin?: number;
  readonly onFailure?: (err: unknown) => void;
}

/** Kubernetes namespaces that carry the marker and belong to no other platform; the store hides all others. */
export class KubeNamespaceStore implements NamespaceStore {
  readonly #client: KubeClient;
  readonly #watch: KubeWatch<KubeObject, NamespaceEntry | undefined>;

  readonly #options: NamespaceOptions;

  /** Watches all namespaces of the cluster from now on. */
  constructor(client: KubeClient, options: NamespaceOptions = {}) {
    this.#client = client;
    this.#options = options;
    const { onFailure = () => {} } = options;
    this.#watch = new KubeWatch(client, kinds.namespace, { keep: (object) => this.#entryOf(object), onFailure });
  }

  async get(name: string): Promise<NamespaceEntry | undefined> {
    if (!isNamespaceName(name)) return undefined;
    const found = await this.#client.find(kinds.namespace, { name });
    return found && this.#entryOf(found);
  }

  async list(): Promise<readonly NamespaceEntry[]> {
    const { items } = await listObjects(this.#client, kinds.namespace, {}, (object) => this.#entryOf(object));
    return items.filter((entry) => entry !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  write(name: string, change: (current: NamespaceEntry | undefined) => NamespaceEntry): Promise<NamespaceEntry> {
    return retryOnConflict(`write namespace "${name}"`, async (options) => {
      const current = await this.#client.find(kinds.namespace, { name }, options);
      const before = current && this.#entryOf(current);
      const wanted = change(before);
      checkNamespaceKeys(wanted);
      if (current === undefined) {
        await this.#client.create(kinds.namespace, namespaceObject(wanted, undefined, this.#options.platformNamespace));
        await this.#awaitRights(name);
      } else if (before === undefined) {
        const sentence = `Cannot write namespace "${name}": it exists already, and is not a function namespace of this platform`;
        throw new PlatformError("namespace_exists", sentence);
      } else if (wanted.deleting) {
        await this.#delete(current);
      } else if (contentHash(wanted) !== contentHash(before)) {
        await this.#client.replace(kinds.namespace, namespaceObject(wanted, current), { name });
      }
      return wanted;
    });
  }

  /** Resolves when Kubernetes has removed the namespace and all in it; rejects after two minutes. */
  async remove(name: string): Promise<void> {
    const end = performance.now() + removalTimeout;
    for (;;) {
      const current = await this.#client.find(kinds.namespace, { name });
      if (current === undefined || this.#entryOf(current) === undefined) return;
      if (current.metadata.deletionTimestamp === undefined) await this.#delete(current);
      if (performance.now() > end) {
        const sentence = `Cannot remove namespace "${name}": Kubernetes is still emptying it`;
        throw new PlatformError("provider_unavailable", sentence);
      }
      await pause(250);
    }
  }

  async watch(observer: NamespaceObserver): Promise<() => void> {
    await this.#watch.synced;
    const end = this.#watch.listen(({ key, before, after }) => {
      if (after === undefined) {
        if (before !== undefined) observer.removed(key);
      } else if (before === undefined || contentHash(before) !== contentHash(after)) observer.set(after);
    });
    for (const entry of this.#watch.objects.values()) if (entry !== undefined) observer.set(entry);
    observer.synced();
    return end;
  }

  /** The namespaces that are not being deleted, and `always`. */
  namespaces(always: string): NamespaceSet {
    const isThere = (entry: NamespaceEntry | undefined): boolean => entry?.deleting === false;
    const watch = this.#watch;
    return {
      get names() {
        const there = [...watch.objects].filter(([, entry]) => isThere(entry)).map(([name]) => name);
        return new Set([always, ...there]);
      },
      synced: watch.synced,
      listen: (listener) =>
        watch.listen(({ key, before, after }: ObjectChange<NamespaceEntry | undefined>) => {
          if (key !== always && isThere(before) !== isThere(after)) listener(key, isThere(after));
        }),
    };
  }

  async close(): Promise<void> {
    await this.#watch.close();
  }

  #entryOf(object: KubeObject): NamespaceEntry | undefined {
    return namespaceEntry(object, this.#options);
  }

  /** The operator grants the rights; until then nothing can be deployed there. */
  async #awaitRights(namespace: string): Promise<void> {
    const { rightsWithin } = this.#options;
    if (rightsWithin === undefined) return;
    const resourceAttributes = {
      namespace,
      verb: "create",
      group: kinds.function.group,
      resource: kinds.function.plural,
    };
    const review = { metadata: {}, spec: { resourceAttributes } };
    for (const end = performance.now() + rightsWithin; ; await pause(250)) {
      const { status } = await this.#client.create<AccessReview>(kinds.selfSubjectAccessReview, review);
      if (status?.allowed === true) return;
      if (performance.now() > end) {
        const sentence = `Cannot use namespace "${namespace}": it was created, but the operator has not yet granted the gateway its rights there`;
        throw new PlatformError("provider_unavailable", sentence);
      }
    }
  }

  async #delete({ metadata: { name = "", uid } }: KubeObject): Promise<void> {
    const query = uid === undefined ? {} : { uid };
    await this.#client.delete(kinds.namespace, { name }, query).catch((err: unknown) => {
      if (!isNotFound(err)) throw err;
    });
  }
}

interface AccessReview extends KubeObject {
  readonly status?: { readonly allowed: boolean };
}
