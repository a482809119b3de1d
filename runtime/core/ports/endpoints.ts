import type { Condition } from "../../api/schemas/function-status.ts";
import type { FunctionRef } from "../functions/function-ref.ts";

/** Where the ready replicas of one function answer, and what its provider says of it. */
export interface FunctionEndpoints extends FunctionRef {
  /** `host:port` of each ready replica. */
  readonly addresses: readonly string[];
  /** Generation of the desired function that this speaks of. */
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
}

export interface EndpointsObserver {
  set(endpoints: FunctionEndpoints): void;
  removed(ref: FunctionRef): void;
  synced(): void;
}

/**
 * Tells where functions answer.
 *
 * - `watch` tells all entries, calls `synced`, then tells each change, in order per function.
 * - Rejects with `provider_unavailable` when its source cannot be reached at the start; later losses are mended inside.
 */
export interface Endpoints {
  /** Resolves once `synced` was called the first time; the function it gives ends the watch. */
  watch(observer: EndpointsObserver): Promise<() => void>;
}

/** The writing side of `Endpoints`; only the provider holds it. */
export interface EndpointsPublisher {
  publish(endpoints: FunctionEndpoints): Promise<void>;
  remove(ref: FunctionRef): Promise<void>;
  /** All entries, to remove those of functions that are gone. */
  list(): Promise<readonly FunctionEndpoints[]>;
}
