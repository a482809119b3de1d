import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { formatRef } from "../../../core/functions/function-ref.ts";
import type { LoggedFunction, LoggedFunctions } from "../../../core/ports/logged-functions.ts";
import { instanceFilter, parseLabels } from "./containers/container-labels.ts";
import type { LoggedContainers } from "./docker-log-source.ts";
import type { ReplicaContainer } from "./docker-replicas.ts";
import type { EngineClient } from "./engine/engine-client.ts";

interface FoundContainer extends ReplicaContainer {
  readonly ref: FunctionRef;
}

interface ListedContainer {
  readonly Id: string;
  readonly Labels?: Readonly<Record<string, string>>;
}

/** The containers of an instance as the engine lists them, for a process that does not run them itself. */
export class ListedContainers implements LoggedContainers, LoggedFunctions {
  readonly #engine: EngineClient;
  readonly #instance: string;
  readonly #listeners = new Set<(ref: FunctionRef) => void>();
  #found: readonly FoundContainer[] = [];

  constructor(engine: EngineClient, instance: string) {
    this.#engine = engine;
    this.#instance = instance;
  }

  /** Lists the containers, those too that have ended and are still there. Rejects with `provider_unavailable`. */
  async active(): Promise<readonly LoggedFunction[]> {
    const query = { all: "1", filters: instanceFilter(this.#instance) };
    const { body } = await this.#engine.call<readonly ListedContainer[]>("GET", "/containers/json", { query });
    const before = new Set(this.#found.map(({ container }) => container));
    this.#found = (body ?? []).flatMap(({ Id, Labels = {} }) => {
      const labelled = parseLabels(Labels);
      if (labelled === undefined) return [];
      const { namespace, name, id } = labelled;
      return [{ id, container: Id, ref: { namespace, name } }];
    });
    const functions = new Map<string, LoggedFunction>();
    for (const { container, ref } of this.#found) {
      const known = functions.get(formatRef(ref));
      functions.set(formatRef(ref), { ...ref, replicas: (known?.replicas ?? 0) + 1 });
      if (!before.has(container)) for (const listener of this.#listeners) listener(ref);
    }
    return [...functions.values()];
  }

  containersOf(ref: FunctionRef): readonly ReplicaContainer[] {
    return this.#found.filter(({ ref: of }) => isSame(of, ref));
  }

  knows(ref: FunctionRef): boolean {
    return this.#found.some(({ ref: of }) => isSame(of, ref));
  }

  onChange(changed: (ref: FunctionRef) => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }
}

function isSame(one: FunctionRef, other: FunctionRef): boolean {
  return one.namespace === other.namespace && one.name === other.name;
}
