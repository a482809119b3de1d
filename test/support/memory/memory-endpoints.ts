import { formatRef, type FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import type {
  Endpoints,
  EndpointsObserver,
  EndpointsPublisher,
  FunctionEndpoints,
} from "../../../runtime/core/ports/endpoints.ts";

/** Publishes the endpoints of functions within this process. */
export class MemoryEndpoints implements Endpoints, EndpointsPublisher {
  readonly #entries = new Map<string, FunctionEndpoints>();
  readonly #observers = new Set<EndpointsObserver>();

  async publish(endpoints: FunctionEndpoints): Promise<void> {
    const entry = structuredClone(endpoints);
    this.#entries.set(formatRef(endpoints), entry);
    for (const observer of this.#observers) observer.set(entry);
  }

  async remove({ namespace, name }: FunctionRef): Promise<void> {
    if (!this.#entries.delete(formatRef({ namespace, name }))) return;
    for (const observer of this.#observers) observer.removed({ namespace, name });
  }

  async list(): Promise<readonly FunctionEndpoints[]> {
    return [...this.#entries.values()];
  }

  async watch(observer: EndpointsObserver): Promise<() => void> {
    for (const entry of this.#entries.values()) observer.set(entry);
    observer.synced();
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }
}
