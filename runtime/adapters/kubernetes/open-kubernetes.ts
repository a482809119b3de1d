import { editions, type Edition } from "../../api/editions.ts";
import { functionLabel } from "../../api/names.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import type { LogSource } from "../../core/ports/log-source.ts";
import { KubeClient } from "./client/client.ts";
import { readPodConfig, type ClusterConfig } from "./client/cluster-config.ts";
import { sliceAddresses } from "./stores/endpoint-addresses.ts";
import { cacheFunction, type FunctionWatch } from "./stores/cached-function.ts";
import { kinds } from "./client/kinds.ts";
import { FollowedPods } from "./logs/followed-pods.ts";
import { followedPodLines } from "./logs/followed-pod-lines.ts";
import { KubeLoggedFunctions, type PodWatch } from "./logs/kube-logged-functions.ts";
import { KubeAccessRules } from "./stores/kube-access-rules.ts";
import { KubeBrokerServers } from "./stores/kube-broker-servers.ts";
import { KubeEndpoints, type SliceWatch } from "./stores/kube-endpoints.ts";
import { KubeFunctionStore } from "./stores/kube-function-store.ts";
import { KubeLeases } from "./stores/kube-leases.ts";
import { KubeLogSource, listedPodLogs, loggedPodOf } from "./stores/kube-log-source.ts";
import { podLines } from "./stores/pod-lines.ts";
import { KubeNamespaceStore, type NamespaceOptions } from "./stores/kube-namespace-store.ts";
import { KubeSecretStore } from "./stores/kube-secret-store.ts";
import { KubeUsage } from "./stores/kube-usage.ts";
import { fixedNamespaces, type NamespaceSet } from "./watch/namespace-set.ts";
import { NamespacedWatch } from "./watch/namespaced-watch.ts";

/** The settings by which a pod reaches its API server and authenticates there. */
export interface ClusterAccess {
  readonly kubernetesHost: string;
  readonly kubernetesPort: number;
  readonly serviceAccountDir: string;
}

/** The settings that say which namespaces functions live in. */
export interface FunctionNamespaceSettings {
  readonly edition: Edition;
  readonly functionNamespace: string;
  readonly platformNamespace: string;
}

/** Called once when the watches lose the API server, and once when all of them have recovered. */
export interface ClusterListener {
  readonly onFailure: (err: unknown) => void;
  readonly onRecovered: () => void;
}

/**
 * Milliseconds. Enough for a request for a lease to use its whole timeout before its connection counts as half-open.
 */
const leaseRetryTime = 15_000;

/** Milliseconds that the operator may take to grant the gateway its rights in a new namespace. */
const rightsWithin = 10_000;

/**
 * How to reach the API server, from the settings.
 * @throws PlatformError `provider_unavailable` when the service account is not mounted
 */
export function clusterConfig(access: ClusterAccess): Promise<ClusterConfig> {
  const { kubernetesHost: host, kubernetesPort: port, serviceAccountDir: directory } = access;
  return readPodConfig({ host, port, directory });
}

/** The Kubernetes adapters of a gateway. */
export function gatewayCluster(config: ClusterConfig, settings: FunctionNamespaceSettings, news: ClusterListener) {
  const parts = new ClusterParts(config, "weir-gateway", news);
  const { client } = parts;
  const namespaces = parts.namespaceStore(settings, rightsWithin);
  const where = hasMany(settings) ? namespaces.namespaces(settings.functionNamespace) : only(settings);
  const functions = parts.functions(where);
  return {
    functions: new KubeFunctionStore(client, functions, "whole"),
    endpoints: new KubeEndpoints(functions, parts.slices(where)),
    namespaces,
    secrets: new KubeSecretStore(client),
    logs: listedPodLogs(client, functions),
    usage: new KubeUsage(client),
    /** Its account may read them only in editions with IAM. */
    rules: editions[settings.edition].iam ? parts.rules(settings) : undefined,
    /** How the API server is asked for its keys, if this process has an account of its own. */
    account:
      config.caFile === undefined || config.token === undefined
        ? undefined
        : { ca: config.caFile, token: config.token },
    watched: () => parts.client.contact.watches,
    providerFault: () =>
      parts.client.contact.isFailing ? "Cannot reach the API server: its watches are interrupted" : undefined,
    close: () => parts.close(),
  };
}

/** The Kubernetes adapters of a queue-worker. */
export function workerCluster(config: ClusterConfig, settings: FunctionNamespaceSettings, news: ClusterListener) {
  const parts = new ClusterParts(config, "weir-queue-worker", news);
  const where = parts.namespaces(settings);
  const functions = parts.functions(where);
  return {
    functions: new KubeFunctionStore(parts.client, functions, "scale"),
    endpoints: new KubeEndpoints(functions, parts.slices(where)),
    watched: () => parts.client.contact.watches,
    close: () => parts.close(),
  };
}

/** The Kubernetes adapters of an autoscaler. */
export function autoscalerCluster(config: ClusterConfig, settings: FunctionNamespaceSettings, news: ClusterListener) {
  const parts = new ClusterParts(config, "weir-autoscaler", news);
  const where = parts.namespaces(settings);
  const functions = parts.functions(where);
  return {
    functions: new KubeFunctionStore(parts.client, functions, "scale-and-status"),
    endpoints: new KubeEndpoints(functions, parts.slices(where)),
    usage: new KubeUsage(parts.client),
    leases: parts.leases(settings),
    watched: () => parts.client.contact.watches,
    close: () => parts.close(),
  };
}

/** What a history process is told of logs. */
export interface HistoryClusterSettings extends FunctionNamespaceSettings {
  /** Whether lines are kept. */
  readonly keptLogs: boolean;
  /** Most pods whose logs are followed at a time. */
  readonly logFollowMax: number;
}

const noLogs: LogSource = {
  read: async function* () {
    yield* [];
  },
};

/** The Kubernetes adapters of a history process: the logs of functions if they are kept, and the namespaces. */
export function historyCluster(config: ClusterConfig, settings: HistoryClusterSettings, news: ClusterListener) {
  const parts = new ClusterParts(config, "weir-history", news);
  const store = hasMany(settings) ? parts.namespaceStore(settings) : undefined;
  const where = store?.namespaces(settings.functionNamespace) ?? only(settings);
  const pods = settings.keptLogs ? parts.pods(where) : undefined;
  const followed = new FollowedPods(settings.logFollowMax);
  const functions = pods && new KubeLoggedFunctions(pods, followed);
  const lines = followedPodLines(followed, podLines(parts.client));
  return {
    source: functions === undefined ? noLogs : new KubeLogSource(functions, lines),
    functions: functions ?? { active: async () => [] },
    called: (ref: FunctionRef, at: number): void => functions?.called(ref, at),
    // An edition with one namespace may not list others, of which something may have been kept before.
    facts: { namespaces: store },
    watched: () => parts.client.contact.watches,
    close: async () => {
      functions?.close();
      await parts.close();
    },
  };
}

/** The Kubernetes adapters of a queue-doctor: the pods of the broker. */
export function doctorCluster(config: ClusterConfig, settings: Pick<FunctionNamespaceSettings, "platformNamespace">) {
  const client = new KubeClient(config, { fieldManager: "weir-queue-doctor" });
  return { servers: new KubeBrokerServers(client, settings.platformNamespace), close: () => client.close() };
}

/** The Kubernetes adapters of an operator, which opens its own watches by `client`, in `namespaces`. */
export function operatorCluster(config: ClusterConfig, settings: FunctionNamespaceSettings, news: ClusterListener) {
  const parts = new ClusterParts(config, "weir-operator", news);
  return {
    client: parts.client,
    namespaces: parts.namespaces(settings),
    leases: parts.leases(settings),
    watched: () => parts.client.contact.watches,
    close: () => parts.close(),
  };
}

function hasMany({ edition }: FunctionNamespaceSettings): boolean {
  return editions[edition].namespaces === "many";
}

function only({ functionNamespace }: FunctionNamespaceSettings): NamespaceSet {
  return fixedNamespaces(functionNamespace);
}

/** A client and the watches of one process, closed together. */
class ClusterParts {
  readonly client: KubeClient;
  readonly #config: ClusterConfig;
  readonly #fieldManager: string;
  readonly #onFailure: ClusterListener["onFailure"];
  readonly #closing: (() => Promise<void>)[] = [];

  constructor(config: ClusterConfig, fieldManager: string, { onFailure, onRecovered }: ClusterListener) {
    this.client = new KubeClient(config, { fieldManager, contact: { onRecovered } });
    this.#config = config;
    this.#fieldManager = fieldManager;
    this.#onFailure = onFailure;
  }

  namespaceStore(
    { functionNamespace, platformNamespace }: FunctionNamespaceSettings,
    within?: number,
  ): KubeNamespaceStore {
    const options: NamespaceOptions = {
      defaultNamespace: functionNamespace,
      platformNamespace,
      onFailure: this.#onFailure,
    };
    const store = new KubeNamespaceStore(
      this.client,
      within === undefined ? options : { ...options, rightsWithin: within },
    );
    this.#closing.push(() => store.close());
    return store;
  }

  /** The function namespaces. Editions with a single one do not watch the namespaces of the cluster. */
  namespaces(places: FunctionNamespaceSettings): NamespaceSet {
    return hasMany(places) ? this.namespaceStore(places).namespaces(places.functionNamespace) : only(places);
  }

  /** Leases have a separate client, so that none lapses while other requests wait for a connection or a retry. */
  leases({ platformNamespace }: FunctionNamespaceSettings): KubeLeases {
    const client = new KubeClient(this.#config, {
      fieldManager: this.#fieldManager,
      connections: 1,
      streams: 1,
      retryWindow: leaseRetryTime,
    });
    this.#closing.push(() => client.close());
    return new KubeLeases(client, platformNamespace);
  }

  functions(where: NamespaceSet): FunctionWatch {
    return this.#closeLater(
      new NamespacedWatch(this.client, kinds.function, where, { keep: cacheFunction, onFailure: this.#onFailure }),
    );
  }

  slices(where: NamespaceSet): SliceWatch {
    const options = { keep: sliceAddresses, labelSelector: functionLabel, onFailure: this.#onFailure };
    return this.#closeLater(new NamespacedWatch(this.client, kinds.endpointSlice, where, options));
  }

  pods(where: NamespaceSet): PodWatch {
    const options = { keep: loggedPodOf, labelSelector: functionLabel, onFailure: this.#onFailure };
    return this.#closeLater(new NamespacedWatch(this.client, kinds.pod, where, options));
  }

  rules({ platformNamespace: namespace }: FunctionNamespaceSettings): KubeAccessRules {
    return this.#closeLater(new KubeAccessRules(this.client, { namespace, onFailure: this.#onFailure }));
  }

  async close(): Promise<void> {
    await Promise.all(this.#closing.map((close) => close()));
    await this.client.close();
  }

  #closeLater<W extends { close(): Promise<void> }>(watch: W): W {
    this.#closing.push(() => watch.close());
    return watch;
  }
}
