import type { DesiredFunction } from "../functions/desired-function.ts";
import type { FunctionRef } from "../functions/function-ref.ts";

/** Hears of every function: all that are there, then `synced`, then each change as it happens. */
export interface FunctionObserver {
  set(wanted: DesiredFunction): void;
  removed(ref: FunctionRef): void;
  /** Called once all functions present at the start have been told, and again after the source was lost and re-read. */
  synced(): void;
}

/**
 * Keeps desired functions.
 *
 * - `write` reads, asks `change` and stores what it returns only if nobody wrote in between; else it begins again.
 *   What `change` throws ends it with nothing stored.
 * - A write is seen by `get` and `list` as soon as it resolves, by observers soon after, in order per function.
 * - All reject with `provider_unavailable` when the store cannot be reached.
 */
export interface FunctionStore {
  get(ref: FunctionRef): Promise<DesiredFunction | undefined>;
  /** Sorted by name. */
  list(namespace: string): Promise<readonly DesiredFunction[]>;
  write(ref: FunctionRef, change: (current: DesiredFunction | undefined) => DesiredFunction): Promise<DesiredFunction>;
  /** False when there was nothing to remove. */
  remove(ref: FunctionRef): Promise<boolean>;
  /** Resolves once `synced` was called the first time; the function it gives ends the watch. */
  watch(observer: FunctionObserver): Promise<() => void>;
}
