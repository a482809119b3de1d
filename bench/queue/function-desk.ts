import { NatsEndpoints } from "../../runtime/adapters/nats/stores/nats-endpoints.ts";
import { NatsFunctionStore } from "../../runtime/adapters/nats/stores/nats-function-store.ts";
import type { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";

/** Deploys functions, and publishes addresses that the bench chooses as a provider would. */
export interface FunctionDesk {
  /** Deploys a function; without addresses it is scaled to zero. */
  deploy(ref: FunctionRef, addresses: readonly string[]): Promise<void>;
  /** Publishes the addresses of its replicas. */
  tell(ref: FunctionRef, addresses: readonly string[]): Promise<void>;
}

export async function openFunctionDesk(link: NatsLink): Promise<FunctionDesk> {
  const functions = new NatsFunctionStore(link);
  const endpoints = new NatsEndpoints(link);
  const tell: FunctionDesk["tell"] = (ref, addresses) =>
    endpoints.publish({ ...ref, addresses, observedGeneration: 1, conditions: [] });
  return {
    deploy: async (ref, addresses) => {
      const now = new Date().toISOString();
      await functions.write(ref, (current) => {
        const desired = desireFunction(current, ref.namespace, { service: ref.name, image: "none" }, now);
        return addresses.length === 0 ? { ...desired, replicas: 0 } : desired;
      });
      await tell(ref, addresses);
    },
    tell,
  };
}
