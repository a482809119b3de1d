import { managedByWeir, objectLabel } from "../../../api/names.ts";
import type { OperatedKind } from "../../../core/ports/operated-kind.ts";
import type { KubeClient } from "../client/client.ts";
import { keptObject } from "./kept-object.ts";
import { kinds, type Kind } from "../client/kinds.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { namespaceObjects, type NamespaceSettings } from "../manifests/namespace-objects.ts";
import type { NamespaceSet } from "../watch/namespace-set.ts";
import { NamespacedWatch } from "../watch/namespaced-watch.ts";
import { AppliedObjects } from "./apply-wanted.ts";

/** The kinds of objects that are made in each function namespace. */
const made: readonly Kind[] = [kinds.roleBinding, kinds.networkPolicy, kinds.limitRange, kinds.resourceQuota];

const ourLabel = `${objectLabel.managedBy}=${managedByWeir}`;

/** Function namespaces: each gets rights, network policies, quota and limits, which are restored when changed. */
export class OperatedNamespaces implements OperatedKind {
  readonly name = "namespace";
  readonly #namespaces: NamespaceSet;
  readonly #settings: NamespaceSettings;
  readonly #applied: AppliedObjects;
  readonly #watches: readonly (readonly [Kind, NamespacedWatch<KubeObject, KubeObject>])[];
  readonly #ends: (() => void)[] = [];

  constructor(
    client: KubeClient,
    namespaces: NamespaceSet,
    settings: NamespaceSettings,
    onFailure: (err: unknown) => void,
  ) {
    this.#namespaces = namespaces;
    this.#settings = settings;
    this.#applied = new AppliedObjects(client);
    const watched = made.filter((kind) => settings.bindAccounts || kind !== kinds.roleBinding);
    this.#watches = watched.map((kind) => {
      const options = { labelSelector: ourLabel, keep: keptObject<KubeObject>, onFailure };
      return [kind, new NamespacedWatch(client, kind, namespaces, options)] as const;
    });
  }

  async open(changed: (key: string) => void): Promise<void> {
    // Until everything is known, every object would be written again.
    await Promise.all([this.#namespaces.synced, ...this.#watches.map(([, watch]) => watch.synced)]);
    this.#ends.push(
      this.#namespaces.listen((name, isThere) => {
        if (isThere) changed(name);
      }),
      ...this.#watches.map(([, watch]) => watch.listen(({ key }) => changed(key.slice(0, key.indexOf("/"))))),
    );
    for (const key of this.keys()) changed(key);
  }

  keys(): Iterable<string> {
    return this.#namespaces.names;
  }

  async reconcile(namespace: string): Promise<undefined> {
    if (!this.#namespaces.names.has(namespace)) return;
    for (const object of namespaceObjects(namespace, this.#settings)) {
      for (const [kind, watch] of this.#watches) {
        if (kind.kind === object.kind)
          await this.#applied.make(kind, object, watch.find(namespace, object.metadata.name));
      }
    }
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await Promise.all(this.#watches.map(([, watch]) => watch.close()));
  }
}
