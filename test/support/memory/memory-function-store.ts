import type { DesiredFunction } from "../../../runtime/core/functions/desired-function.ts";
import { formatRef, type FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import type { FunctionObserver, FunctionStore } from "../../../runtime/core/ports/function-store.ts";

/** Keeps desired functions in this process; observers are called before a write resolves. */
export class MemoryFunctionStore implements FunctionStore {
  readonly #functions = new Map<string, DesiredFunction>();
  readonly #observers = new Set<FunctionObserver>();

  async get(ref: FunctionRef): Promise<DesiredFunction | undefined> {
    return this.#functions.get(formatRef(ref));
  }

  async list(namespace: string): Promise<readonly DesiredFunction[]> {
    const found = [...this.#functions.values()].filter((desired) => desired.namespace === namespace);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async write(
    ref: FunctionRef,
    change: (current: DesiredFunction | undefined) => DesiredFunction,
  ): Promise<DesiredFunction> {
    const desired = structuredClone(change(this.#functions.get(formatRef(ref))));
    this.#functions.set(formatRef(ref), desired);
    for (const observer of this.#observers) observer.set(desired);
    return desired;
  }

  async remove({ namespace, name }: FunctionRef): Promise<boolean> {
    const removed = this.#functions.delete(formatRef({ namespace, name }));
    if (removed) for (const observer of this.#observers) observer.removed({ namespace, name });
    return removed;
  }

  async watch(observer: FunctionObserver): Promise<() => void> {
    for (const desired of this.#functions.values()) observer.set(desired);
    observer.synced();
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }
}
