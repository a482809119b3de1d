import { NatsEndpoints } from "../../runtime/adapters/nats/stores/nats-endpoints.ts";
import { NatsFunctionStore } from "../../runtime/adapters/nats/stores/nats-function-store.ts";
import type { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";

/** Makes functions as deployments and a provider do, at addresses that the bench chooses. */
export interface FunctionDesk {
  /** Deploys it; without addresses it is at zero. */
  deploy(ref: FunctionRef, addresses: readonly string[]): Promise<void>;
  /** Says where its replicas answer. */
  tell(ref: FunctionRef, addresses: readonly string[]): Promise<void>;
}

/** Opens a desk at the broker. */
export async function openFunctionDesk(link: NatsLink): Promise<FunctionDesk> {
  const functions = new NatsFunctionStore(link);
  const endpoints = new NatsEndpoints(link);
  const tell: FunctionDesk["tell"] = (ref, addresses) =>
    endpoints.publish({ ...ref, addresses, observedGeneration: 1, conditions: [] });
  return {
    deploy: async (ref, addresses) => {
      const now = new Date().toISOString();
      await functions.write(ref, (current) => {
        const wanted = desireFunction(current, ref.namespace, { service: ref.name, image: "none" }, now);
        return addresses.length === 0 ? { ...wanted, replicas: 0 } : wanted;
      });
      await tell(ref, addresses);
    },
    tell,
  };
}
