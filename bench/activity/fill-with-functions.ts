import { NatsEndpoints } from "../../runtime/adapters/nats/stores/nats-endpoints.ts";
import { NatsFunctionStore } from "../../runtime/adapters/nats/stores/nats-function-store.ts";
import type { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";

const atOnce = 100;
const namespace = "functions";

/** Deploys `count` functions that nobody calls: one half sleeps, of the other half each has a ready replica. */
export async function fillWithFunctions(link: NatsLink, count: number): Promise<void> {
  const functions = new NatsFunctionStore(link);
  const endpoints = new NatsEndpoints(link);
  const deploy = async (index: number): Promise<void> => {
    const name = `rest-${index}`;
    const asleep = index % 2 === 0;
    const labels = { "com.service.scale.zero": String(asleep) };
    const wanted = desireFunction(
      undefined,
      namespace,
      { service: name, image: "none", labels },
      new Date().toISOString(),
    );
    await functions.write({ namespace, name }, () => (asleep ? { ...wanted, replicas: 0 } : wanted));
    const addresses = asleep ? [] : [`127.0.0.1:${1 + (index % 65_535)}`];
    await endpoints.publish({ namespace, name, addresses, observedGeneration: 1, conditions: [] });
  };
  let next = 0;
  const deployNext = async (): Promise<void> => {
    while (next < count) await deploy(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, deployNext));
}
