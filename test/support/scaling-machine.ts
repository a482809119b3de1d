import { join } from "node:path";

import { Registry } from "prom-client";

import { holdLock } from "../../runtime/process/hold-lock.ts";
import { HttpProber } from "../../runtime/adapters/http/probe/http-prober.ts";
import { openLocalProvider } from "../../runtime/adapters/machine/local/open-local-provider.ts";
import { NatsEndpoints } from "../../runtime/adapters/nats/stores/nats-endpoints.ts";
import { NatsFunctionStore } from "../../runtime/adapters/nats/stores/nats-function-store.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsNamespaceStore } from "../../runtime/adapters/nats/stores/nats-namespace-store.ts";
import { autoscalerAdapters } from "../../runtime/adapters/nats/open-nats.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { readSettings } from "../../runtime/settings/read-settings.ts";
import { buildAutoscalerMetrics } from "../../runtime/autoscaler/autoscaler-metrics.ts";
import { buildAutoscaler } from "../../runtime/autoscaler/build-autoscaler.ts";
import { autoscalerSettings } from "../../runtime/autoscaler/settings.ts";
import { createLog } from "../../runtime/process/log.ts";
import { buildProvider } from "../../runtime/provider/build-provider.ts";
import type { Platform } from "./platform.ts";
import { tempDirectory } from "./temp-directory.ts";

/** Durations in milliseconds. */
export interface ScalingMachineOptions {
  /** Time without calls after which functions are scaled to zero, whatever their labels say. */
  readonly idle?: number;
}

/** A test's own provider and autoscaler, beside a platform of real processes. */
export interface ScalingMachine extends AsyncDisposable {
  /** Desired replicas. */
  replicas(name: string): number | undefined;
  /** Existing replicas, including those that are stopping. */
  standing(): Promise<number>;
  /** How often a function was scaled to zero. */
  readonly sleeps: number;
  /** Calls `listener` whenever a function is scaled to zero; the returned function ends that. */
  onSleep(listener: (name: string) => void): () => void;
  close(): Promise<void>;
}

/** Runs functions as processes of this machine and scales them, with a decision every 50 ms. */
export async function openScalingMachine(
  platform: Platform,
  options: ScalingMachineOptions = {},
): Promise<ScalingMachine> {
  const closes: (() => unknown)[] = [];
  const log = createLog("test", "silent");
  const link = async (user: string): Promise<NatsLink> => {
    const opened = await NatsLink.open({ ...platform.server.access(user), name: user, pingInterval: 1_000 });
    closes.push(() => opened.close());
    return opened;
  };
  const directory = await tempDirectory("scaling");
  closes.push(() => directory.remove());
  const data = directory.path;
  const local = await openLocalProvider({ data, secrets: join(data, "secrets"), logs: join(data, "logs"), holdLock });
  closes.push(() => local.close());
  const providerLink = await link(natsUser.provider);
  const functions = new NatsFunctionStore(providerLink);
  const provider = buildProvider({
    functions,
    namespaces: new NatsNamespaceStore(providerLink),
    endpoints: new NatsEndpoints(providerLink),
    replicas: local.replicas,
    secrets: local.secrets,
    prober: new HttpProber(),
    gatewayUrl: platform.url,
    secretsDirectory: (ref) => local.secretsDirectory(ref),
    upstreamTimeout: 10_000,
    log,
  });
  await provider.open();
  closes.push(() => provider.close());

  const { idle } = options;
  const settings = readSettings(autoscalerSettings, { environment: { scale_period: "50ms", scale_window: "2s" } });
  const autoscaler = buildAutoscaler({
    settings,
    ...autoscalerAdapters(await link(natsUser.autoscaler)),
    usage: local.usage,
    metrics: buildAutoscalerMetrics(new Registry()),
    log,
    ...(idle === undefined ? {} : { idleAfter: () => idle }),
  });
  await autoscaler.open();
  closes.push(() => autoscaler.close());

  const desired = new Map<string, number>();
  const listeners = new Set<(name: string) => void>();
  let sleeps = 0;
  closes.push(
    await functions.watch({
      set: ({ name, replicas }) => {
        if (replicas === 0 && desired.get(name) !== 0) {
          sleeps += 1;
          for (const listener of listeners) listener(name);
        }
        desired.set(name, replicas);
      },
      removed: ({ name }) => void desired.delete(name),
      synced: () => {},
    }),
  );
  const close = async (): Promise<void> => {
    for (const each of closes.splice(0).reverse()) await each();
  };
  return {
    replicas: (name) => desired.get(name),
    standing: async () => (await local.replicas.list()).length,
    get sleeps() {
      return sleeps;
    },
    onSleep: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
