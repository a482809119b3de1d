import type { Condition } from "../../api/schemas/function-status.ts";
import type { FunctionRef } from "../functions/function-ref.ts";

/** Addresses of the ready replicas of one function, and the state that its provider reports. */
export interface FunctionEndpoints extends FunctionRef {
  /** `host:port` of each ready replica, or `unix:` and the path of its socket. */
  readonly addresses: readonly string[];
  /** Names of these replicas by their addresses, as their logs have them; absent in entries of earlier releases. */
  readonly names?: Readonly<Record<string, string>>;
  /** Other addresses of the function, which are not called: of replicas that are not ready or drain, and the like. */
  readonly others?: readonly string[];
  /** Generation of the desired function that this describes. */
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
}

export interface EndpointsObserver {
  set(endpoints: FunctionEndpoints): void;
  removed(ref: FunctionRef): void;
  synced(): void;
}

/**
 * Watches the addresses of functions.
 *
 * - `watch` reports all entries, calls `synced`, then reports each change, in order per function.
 * - Rejects with `provider_unavailable` when its source cannot be reached at the start; it recovers from later losses.
 */
export interface Endpoints {
  /** Resolves once `synced` was called the first time; the returned function ends the watch. */
  watch(observer: EndpointsObserver): Promise<() => void>;
}

/** The writing side of `Endpoints`; only the provider holds it. */
export interface EndpointsPublisher {
  publish(endpoints: FunctionEndpoints): Promise<void>;
  remove(ref: FunctionRef): Promise<void>;
  /** All entries, so that those of removed functions can be removed. */
  list(): Promise<readonly FunctionEndpoints[]>;
}
