import type { DesiredFunction } from "./desired-function.ts";
import type { FunctionRef } from "./function-ref.ts";
import type { FunctionObserver, FunctionStore } from "../ports/function-store.ts";

/**
 * A store whose own writes an observer sees before they resolve, and not only when the watch brings them: who was told
 * that a function is deployed may call it at once.
 */
export class SeenFunctionStore implements FunctionStore {
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
