import type { DesiredFunction } from "../functions/desired-function.ts";
import { readFacts, type FunctionFacts, type SeenFunction } from "../functions/function-facts.ts";
import { formatRef, type FunctionRef } from "../functions/function-ref.ts";
import type { ReadyReplica, ReplicaChoice } from "./pick-replica.ts";
import type { EndpointsObserver, FunctionEndpoints } from "../ports/endpoints.ts";
import type { FunctionObserver } from "../ports/function-store.ts";

/** One deployed function as the invocation path sees it; the object stays the same while the function exists. */
export interface TableEntry extends ReplicaChoice, SeenFunction {
  readonly ref: FunctionRef;
  /** `<name>.<namespace>`. */
  readonly key: string;
  wanted: DesiredFunction;
  facts: FunctionFacts;
  endpoints: FunctionEndpoints | undefined;
  replicas: readonly ReadyReplica[];
}

/** How a table resolves names. */
export interface FunctionTableOptions {
  /** The namespace of calls that name none. */
  readonly defaultNamespace: string;
  /** Names that mean the default namespace while no namespace of that name is usable. */
  readonly aliases: readonly string[];
  /**
   * Whether functions of a namespace can be found; call `reindex` when its result changes. Absent = all but those named
   * like an alias.
   */
  readonly isUsable?: (namespace: string) => boolean;
}

type Listener = (entry: TableEntry) => void;

/** All functions and their ready replicas, kept current by the watches of functions and endpoints in any order. */
export class FunctionTable {
  /** To be passed to `FunctionStore.watch`. */
  readonly functionObserver: FunctionObserver;
  /** To be passed to `Endpoints.watch`. */
  readonly endpointsObserver: EndpointsObserver;
  readonly #options: FunctionTableOptions;
  /** By `<name>.<namespace>`. */
  readonly #entries = new Map<string, TableEntry>();
  /** By every form in which a call may name the function. */
  readonly #index = new Map<string, TableEntry>();
  readonly #endpoints = new Map<string, FunctionEndpoints>();
  readonly #isUsable: (namespace: string) => boolean;
  readonly #onReplicas: Listener[] = [];
  readonly #onWanted: Listener[] = [];
  readonly #onRemoved: Listener[] = [];
  readonly #onGone: ((address: string) => void)[] = [];
  #functionsSynced = false;
  #endpointsSynced = false;

  constructor(options: FunctionTableOptions) {
    this.#options = options;
    this.#isUsable = options.isUsable ?? ((namespace) => !options.aliases.includes(namespace));
    this.functionObserver = {
      set: (wanted) => this.#setFunction(wanted),
      removed: (ref) => this.#removeFunction(ref),
      synced: () => {
        this.#functionsSynced = true;
      },
    };
    this.endpointsObserver = {
      set: (endpoints) => this.#setEndpoints(formatRef(endpoints), endpoints),
      removed: (ref) => this.#setEndpoints(formatRef(ref), undefined),
      synced: () => {
        this.#endpointsSynced = true;
      },
    };
  }

  /** Whether both watches have reported everything that existed at the start. */
  get synced(): boolean {
    return this.#functionsSynced && this.#endpointsSynced;
  }

  /** The function, aliases resolved; no namespace means the default one. */
  find(name: string, namespace: string | undefined): TableEntry | undefined {
    return this.#index.get(namespace === undefined ? name : `${name}.${namespace}`);
  }

  /** The function that `<name>` or `<name>.<namespace or alias>` means, with one look-up. */
  findKey(key: string): TableEntry | undefined {
    return this.#index.get(key);
  }

  /** Checks again whether a namespace is usable. */
  reindex(namespace: string): void {
    const { aliases, defaultNamespace } = this.#options;
    const affected = [...this.#entries.values()].filter(
      ({ ref }) => ref.namespace === namespace || (ref.namespace === defaultNamespace && aliases.includes(namespace)),
    );
    for (const entry of affected) this.#removeForms(entry);
    for (const entry of affected) this.#addForms(entry);
  }

  entries(): Iterable<TableEntry> {
    return this.#entries.values();
  }

  /** Names of the functions of a namespace. */
  *names(namespace: string): Iterable<string> {
    for (const { ref } of this.#entries.values()) if (ref.namespace === namespace) yield ref.name;
  }

  /** Calls `listener` on each change of a function's ready replicas. */
  onReplicas(listener: Listener): void {
    this.#onReplicas.push(listener);
  }

  /** Calls `listener` on each change of a desired function, after it is in the table. */
  onWanted(listener: Listener): void {
    this.#onWanted.push(listener);
  }

  /** Calls `listener` with each function that was removed. */
  onRemoved(listener: Listener): void {
    this.#onRemoved.push(listener);
  }

  /** Calls `listener` with each address that no longer has a ready replica of its function. */
  onGone(listener: (address: string) => void): void {
    this.#onGone.push(listener);
  }

  #setFunction(wanted: DesiredFunction): void {
    const key = formatRef(wanted);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      const ref = { name: wanted.name, namespace: wanted.namespace };
      const facts = readFacts(wanted.deployment);
      entry = { ref, key, wanted, facts, endpoints: undefined, replicas: [], turn: 0 };
      this.#entries.set(key, entry);
      this.#addForms(entry);
      this.#applyEndpoints(entry);
    } else {
      // The watch may still deliver a version that our own write has already replaced.
      const stale = wanted.createdAt === entry.wanted.createdAt && wanted.generation < entry.wanted.generation;
      if (stale) return;
      entry.wanted = wanted;
      entry.facts = readFacts(wanted.deployment);
    }
    for (const listener of this.#onWanted) listener(entry);
  }

  #removeFunction(ref: FunctionRef): void {
    const entry = this.#entries.get(formatRef(ref));
    if (entry === undefined) return;
    this.#entries.delete(entry.key);
    this.#removeForms(entry);
    this.#setReplicas(entry, undefined);
    for (const listener of this.#onRemoved) listener(entry);
  }

  #setEndpoints(key: string, endpoints: FunctionEndpoints | undefined): void {
    if (endpoints === undefined) this.#endpoints.delete(key);
    else this.#endpoints.set(key, endpoints);
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#applyEndpoints(entry);
  }

  #applyEndpoints(entry: TableEntry): void {
    const endpoints = this.#endpoints.get(entry.key);
    if (endpoints !== entry.endpoints) this.#setReplicas(entry, endpoints);
  }

  /** Replicas that stay keep their objects, so that their counts of calls in flight stay correct. */
  #setReplicas(entry: TableEntry, endpoints: FunctionEndpoints | undefined): void {
    const previous = new Map(entry.replicas.map((replica) => [replica.address, replica]));
    const { addresses = [], names = {} } = endpoints ?? {};
    entry.endpoints = endpoints;
    entry.replicas = [...new Set(addresses)].map((address) => {
      const name = names[address] ?? address;
      const replica = previous.get(address) ?? { address, name, inFlight: 0 };
      replica.name = name;
      return replica;
    });
    for (const replica of entry.replicas) previous.delete(replica.address);
    for (const listener of this.#onReplicas) listener(entry);
    for (const address of previous.keys()) {
      for (const listener of this.#onGone) listener(address);
    }
  }

  #forms(entry: TableEntry): string[] {
    const { name, namespace } = entry.ref;
    if (namespace !== this.#options.defaultNamespace) return [entry.key];
    return [entry.key, name, ...this.#options.aliases.map((alias) => `${name}.${alias}`)];
  }

  #addForms(entry: TableEntry): void {
    const { name, namespace } = entry.ref;
    if (namespace !== this.#options.defaultNamespace && !this.#isUsable(namespace)) return;
    for (const form of this.#forms(entry)) {
      const alias = form !== entry.key && form !== name;
      if (!alias || !this.#isUsable(form.slice(name.length + 1))) this.#index.set(form, entry);
    }
  }

  #removeForms(entry: TableEntry): void {
    for (const form of this.#forms(entry)) {
      if (this.#index.get(form) === entry) this.#index.delete(form);
    }
  }
}
