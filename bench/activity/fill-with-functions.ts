import { NatsEndpoints } from "../../runtime/adapters/nats/stores/nats-endpoints.ts";
import { NatsFunctionStore } from "../../runtime/adapters/nats/stores/nats-function-store.ts";
import type { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";

const concurrency = 100;
const namespace = "functions";

/** Deploys `count` functions without calls: half are scaled to zero, the others have one ready replica each. */
export async function fillWithFunctions(link: NatsLink, count: number): Promise<void> {
  const functions = new NatsFunctionStore(link);
  const endpoints = new NatsEndpoints(link);
  const deploy = async (index: number): Promise<void> => {
    const name = `rest-${index}`;
    const atZero = index % 2 === 0;
    const labels = { "com.service.scale.zero": String(atZero) };
    const desired = desireFunction(
      undefined,
      namespace,
      { service: name, image: "none", labels },
      new Date().toISOString(),
    );
    await functions.write({ namespace, name }, () => (atZero ? { ...desired, replicas: 0 } : desired));
    const addresses = atZero ? [] : [`127.0.0.1:${1 + (index % 65_535)}`];
    await endpoints.publish({ namespace, name, addresses, observedGeneration: 1, conditions: [] });
  };
  let next = 0;
  const deployNext = async (): Promise<void> => {
    while (next < count) await deploy(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, deployNext));
}
