import type { DesiredFunction } from "./desired-function.ts";
import type { FunctionRef } from "./function-ref.ts";
import type { FunctionObserver, FunctionStore } from "../ports/function-store.ts";

/**
 * A store that shows its own writes to an observer before they resolve, without waiting for the watch: a client that
 * was told of a deployment may call the function at once.
 */
export class ObservedFunctionStore implements FunctionStore {
  readonly #inner: FunctionStore;
  readonly #observer: FunctionObserver;

  constructor(inner: FunctionStore, observer: FunctionObserver) {
    this.#inner = inner;
    this.#observer = observer;
  }

  get(ref: FunctionRef): Promise<DesiredFunction | undefined> {
    return this.#inner.get(ref);
  }

  list(namespace: string): Promise<readonly DesiredFunction[]> {
    return this.#inner.list(namespace);
  }

  async write(
    ref: FunctionRef,
    change: (current: DesiredFunction | undefined) => DesiredFunction,
  ): Promise<DesiredFunction> {
    const written = await this.#inner.write(ref, change);
    this.#observer.set(written);
    return written;
  }

  async remove(ref: FunctionRef): Promise<boolean> {
    const removed = await this.#inner.remove(ref);
    this.#observer.removed(ref);
    return removed;
  }

  watch(observer: FunctionObserver): Promise<() => void> {
    return this.#inner.watch(observer);
  }
}
