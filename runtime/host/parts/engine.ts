import type { NatsLink } from "../../adapters/nats/link/nats-link.ts";
import { NatsFunctionStore } from "../../adapters/nats/stores/nats-function-store.ts";
import { NatsNamespaceStore } from "../../adapters/nats/stores/nats-namespace-store.ts";
import { natsUser } from "../../api/broker/nats-users.ts";
import type { ProviderName } from "../../api/machine-providers.ts";
import type { OpenEngine } from "../../core/ports/engine.ts";
import { bridgePort } from "../addresses.ts";
import { countFunctions } from "../count-functions.ts";
import type { HostStart } from "./host-start.ts";
import { autoProviders, chooseProvider } from "../provider-choice.ts";
import type { Broker } from "./broker.ts";
import { enginesFor } from "./engines.ts";
import type { HostPlace } from "./place.ts";

/** What runs replicas, and where the provider reads functions. */
export interface ChosenEngine {
  readonly engine: OpenEngine;
  readonly providerName: ProviderName;
  /** Why functions do not run in containers, unless that was chosen. */
  readonly engineTrouble: string | undefined;
  readonly providerLink: NatsLink;
  readonly functions: NatsFunctionStore;
  readonly namespaces: NatsNamespaceStore;
}

/** Opens the engine that the settings or an earlier start chose. */
export async function openEngine(given: HostStart & HostPlace & Broker): Promise<ChosenEngine> {
  const { settings, lifecycle, layout, nats } = given;
  const providerLink = await given.connect(natsUser.provider);
  const functions = new NatsFunctionStore(providerLink);
  const namespaces = new NatsNamespaceStore(providerLink);
  const engines = enginesFor(settings);
  const { provider: providerName, engineTrouble } = await chooseProvider({
    file: layout.provider,
    wanted: settings.provider,
    functions: () => countFunctions(functions, namespaces, settings.functionNamespace),
    engine: () => engines[autoProviders.preferred].look(),
  });
  const engine = await engines[providerName].open({
    data: layout.root,
    secrets: layout.secrets,
    logs: layout.logs,
    run: layout.run,
    snapshots: layout.snapshots,
    platformNamespace: settings.platformNamespace,
    gatewayPort: bridgePort,
    defaultLimits: { memory: settings.functionMemory, cpu: settings.functionCpu },
    log: given.log.child({ part: providerName }),
  });
  lifecycle.onClose("replicas", () => engine.close());
  lifecycle.onEndNow("replicas", () => engine.closeNow());
  // Before the replicas: runs that are aborted with them must not be recorded as failed attempts.
  lifecycle.onEndNow("nats-server", () => nats.close());
  return { engine, providerName, engineTrouble, providerLink, functions, namespaces };
}
