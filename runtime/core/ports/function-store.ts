import type { DesiredFunction } from "../functions/desired-function.ts";
import type { FunctionRef } from "../functions/function-ref.ts";

/** Receives every function: all existing ones, then `synced`, then each change as it happens. */
export interface FunctionObserver {
  set(wanted: DesiredFunction): void;
  removed(ref: FunctionRef): void;
  /** Called once all functions present at the start are reported, and again after the source was lost and re-read. */
  synced(): void;
}

/** The functions of a namespace. `staleFor`: milliseconds since they were known to be current; absent when they are. */
export interface FunctionListing extends ReadonlyArray<DesiredFunction> {
  readonly staleFor?: number;
}

/**
 * Keeps desired functions.
 *
 * - `write` reads, calls `change` and stores its result by compare-and-set; on a conflict it starts again. When
 *   `change` throws, `write` rejects with that and nothing is stored.
 * - A write is visible to `get` and `list` as soon as it resolves, to observers soon after, in order per function.
 * - All reject with `provider_unavailable` when the store cannot be reached; `list` may return what was known last.
 */
export interface FunctionStore {
  get(ref: FunctionRef): Promise<DesiredFunction | undefined>;
  /** Sorted by name. */
  list(namespace: string): Promise<FunctionListing>;
  write(ref: FunctionRef, change: (current: DesiredFunction | undefined) => DesiredFunction): Promise<DesiredFunction>;
  /** False when there was nothing to remove. */
  remove(ref: FunctionRef): Promise<boolean>;
  /** Resolves once `synced` was called the first time; the returned function ends the watch. */
  watch(observer: FunctionObserver): Promise<() => void>;
}
