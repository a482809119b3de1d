import type { OperatedKind } from "../../../core/ports/operated-kind.ts";
import type { NamespaceSet } from "../watch/namespace-set.ts";
import type { CoreSecrets } from "./core-secrets.ts";

/**
 * Lists the core Secrets of each function namespace when it is added and at every resync: nothing else reports those
 * that were created, changed or labelled by hand.
 */
export class ListedSecrets implements OperatedKind {
  readonly name = "core-secrets";
  readonly #core: Pick<CoreSecrets, "list" | "forget">;
  readonly #namespaces: NamespaceSet;
  #end: (() => void) | undefined;

  constructor(core: Pick<CoreSecrets, "list" | "forget">, namespaces: NamespaceSet) {
    this.#core = core;
    this.#namespaces = namespaces;
  }

  async open(changed: (key: string) => void): Promise<void> {
    await this.#namespaces.synced;
    this.#end = this.#namespaces.listen((name, isThere) => (isThere ? changed(name) : this.#core.forget(name)));
    for (const key of this.keys()) changed(key);
  }

  keys(): Iterable<string> {
    return this.#namespaces.names;
  }

  async reconcile(namespace: string): Promise<undefined> {
    if (this.#namespaces.names.has(namespace)) await this.#core.list(namespace);
  }

  close(): Promise<void> {
    this.#end?.();
    return Promise.resolve();
  }
}
