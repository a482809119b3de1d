import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { formatRef, type FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import {
  addressesOf,
  type Replica,
  type Replicas,
  type ReplicaSpec,
  type ReplicaTraits,
} from "../../../runtime/core/ports/replicas.ts";

interface Entry {
  readonly spec: ReplicaSpec;
  replica: Replica;
}

/** Pretends to run replicas: they are running at once, at addresses nobody listens on. */
export class MemoryReplicas implements Replicas {
  readonly traits: ReplicaTraits;
  readonly #entries = new Map<string, Entry>();
  readonly #orphans = new Map<string, FunctionRef>();
  readonly #listeners = new Set<(ref: FunctionRef) => void>();
  readonly #forgotten: FunctionRef[] = [];
  readonly #tokens = new Map<string, string>();
  readonly #forgottenNamespaces: string[] = [];
  #count = 0;
  #refusal: PlatformError | undefined;
  #unavailable: string | undefined;

  constructor(traits: ReplicaTraits = { port: undefined, handlesProbes: true }) {
    this.traits = traits;
  }

  /** Functions of which everything was removed, in order. */
  get forgotten(): readonly FunctionRef[] {
    return this.#forgotten;
  }

  /** Namespaces of which everything was removed, in order. */
  get forgottenNamespaces(): readonly string[] {
    return this.#forgottenNamespaces;
  }

  /** The workload token that replicas of a function read. */
  tokenOf(ref: FunctionRef): string | undefined {
    return this.#tokens.get(formatRef(ref));
  }

  /** The error of every `start` from now on; undefined = none. */
  refuseStarts(refusal: PlatformError | undefined): void {
    this.#refusal = refusal;
  }

  /** The message with which `check` rejects from now on; undefined = none. */
  setUnavailable(sentence: string | undefined): void {
    this.#unavailable = sentence;
  }

  /** Lets a replica end by itself. */
  exit(id: string, failure: Replica["failure"]): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.replica = { ...entry.replica, state: "exited", failure };
    this.#notify(entry.replica);
  }

  /** Pretends that objects of a function exist. */
  leave({ namespace, name }: FunctionRef): void {
    this.#orphans.set(formatRef({ namespace, name }), { namespace, name });
  }

  /** The spec with which a replica was started. */
  specOf(id: string): ReplicaSpec | undefined {
    return this.#entries.get(id)?.spec;
  }

  async start(spec: ReplicaSpec): Promise<Replica> {
    await this.check();
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#count += 1;
    const { name, namespace, generation } = spec;
    const id = `${name}-${this.#count}`;
    const address = `127.0.0.1:${this.#count}`;
    const replica: Replica = { id, name, namespace, generation, state: "running", address, failure: undefined };
    this.#entries.set(id, { spec, replica });
    this.leave(spec);
    queueMicrotask(() => this.#notify(spec));
    return { ...replica, state: "starting", address: undefined };
  }

  async stop(id: string): Promise<void> {
    this.#entries.delete(id);
  }

  async list(): Promise<readonly Replica[]> {
    return [...this.#entries.values()].map(({ replica }) => replica);
  }

  addresses(): readonly string[] {
    return [...this.#entries.values()].flatMap(({ replica }) => addressesOf(replica));
  }

  async orphans(): Promise<readonly FunctionRef[]> {
    return [...this.#orphans.values()];
  }

  onChange(changed: (ref: FunctionRef) => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  async check(): Promise<void> {
    if (this.#unavailable !== undefined) throw new PlatformError("provider_unavailable", this.#unavailable);
  }

  async showToken(ref: FunctionRef, token: string | undefined): Promise<void> {
    if (token === undefined) this.#tokens.delete(formatRef(ref));
    else this.#tokens.set(formatRef(ref), token);
  }

  async forget({ namespace, name }: FunctionRef): Promise<void> {
    this.#orphans.delete(formatRef({ namespace, name }));
    this.#forgotten.push({ namespace, name });
  }

  async forgetNamespace(namespace: string): Promise<void> {
    this.#forgottenNamespaces.push(namespace);
  }

  async close(): Promise<void> {
    this.#entries.clear();
    this.#unavailable = "Cannot start replicas: the provider is closing";
  }

  #notify({ namespace, name }: FunctionRef): void {
    for (const changed of this.#listeners) changed({ namespace, name });
  }
}
