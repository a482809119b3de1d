import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { formatRef, type FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import type { Replica, Replicas, ReplicaSpec, ReplicaTraits } from "../../../runtime/core/ports/replicas.ts";

interface Entry {
  readonly spec: ReplicaSpec;
  replica: Replica;
}

/** Pretends to run replicas: they are running at once, at addresses nobody listens on. */
export class MemoryReplicas implements Replicas {
  readonly traits: ReplicaTraits;
  readonly #entries = new Map<string, Entry>();
  readonly #leftovers = new Map<string, FunctionRef>();
  readonly #heard = new Set<(ref: FunctionRef) => void>();
  readonly #forgotten: FunctionRef[] = [];
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

  /** What every start rejects with from now on; undefined = nothing. */
  refuseStarts(refusal: PlatformError | undefined): void {
    this.#refusal = refusal;
  }

  /** The sentence `check` rejects with from now on; undefined = none. */
  setUnavailable(sentence: string | undefined): void {
    this.#unavailable = sentence;
  }

  /** Lets a replica end by itself. */
  exit(id: string, failure: Replica["failure"]): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.replica = { ...entry.replica, state: "exited", failure };
    this.#tell(entry.replica);
  }

  /** Pretends that there is something of a function. */
  leave({ namespace, name }: FunctionRef): void {
    this.#leftovers.set(formatRef({ namespace, name }), { namespace, name });
  }

  /** The spec a replica was started with. */
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
    queueMicrotask(() => this.#tell(spec));
    return { ...replica, state: "starting", address: undefined };
  }

  async stop(id: string): Promise<void> {
    this.#entries.delete(id);
  }

  async list(): Promise<readonly Replica[]> {
    return [...this.#entries.values()].map(({ replica }) => replica);
  }

  async orphans(): Promise<readonly FunctionRef[]> {
    return [...this.#leftovers.values()];
  }

  onChange(changed: (ref: FunctionRef) => void): () => void {
    this.#heard.add(changed);
    return () => this.#heard.delete(changed);
  }

  async check(): Promise<void> {
    if (this.#unavailable !== undefined) throw new PlatformError("provider_unavailable", this.#unavailable);
  }

  async forget({ namespace, name }: FunctionRef): Promise<void> {
    this.#leftovers.delete(formatRef({ namespace, name }));
    this.#forgotten.push({ namespace, name });
  }

  async forgetNamespace(namespace: string): Promise<void> {
    this.#forgottenNamespaces.push(namespace);
  }

  async close(): Promise<void> {
    this.#entries.clear();
    this.#unavailable = "Cannot start replicas: the provider is closing";
  }

  #tell({ namespace, name }: FunctionRef): void {
    for (const changed of this.#heard) changed({ namespace, name });
  }
}
