import { createHash } from "node:crypto";

import { given, type KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf, platformSecret, selectorOf } from "../names.ts";
import { natsNames, natsPort } from "./nats-addresses.ts";
import { brokerAccounts, natsConfig, natsDirectory } from "./nats-config.ts";
import type { Platform } from "../platform.ts";
import {
  accountAnnotations,
  annotationsOf,
  containerSecurity,
  disruptionBudget,
  placementOf,
  podLabelsOf,
  podSecurity,
  pullSecretsOf,
  resourcesOf,
  secretFileMode,
  spreadOf,
  variablesOf,
} from "../pods.ts";

const name = natsNames.statefulSet;
const labels = labelsOf(name);
const selector = selectorOf(name);
const configFile = "nats.conf";
const mebibyte = 2 ** 20;
const base = 256 * mebibyte;
/** Bytes of memory that the broker needs for a call record. */
const memoryPerRecord = 420;
const messagesAtOnce = 64;
/** Seconds to write and close the store; a large one needs long. */
const grace = 60;

/** The broker: one server or three; nothing when it runs elsewhere. */
export function natsManifests(platform: Platform): KubernetesObject[] {
  if (platform.nats.url !== undefined) return [];
  const namespace = platform.platformNamespace;
  const config = natsConfig(platform);
  return [
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name, namespace, labels, ...accountAnnotations(platform, "nats") },
      automountServiceAccountToken: false,
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: natsNames.config, namespace, labels },
      data: { [configFile]: config },
    },
    statefulSet(platform, createHash("sha256").update(config).digest("hex").slice(0, 16)),
    service(namespace, natsNames.headless, [natsPort.client, natsPort.route, natsPort.monitor], {
      clusterIP: "None",
      publishNotReadyAddresses: true,
    }),
    service(namespace, name, [natsPort.client], {}),
    disruptionBudget(name, namespace, labels)(selector),
  ];
}

const portNames = new Map<number, string>([
  [natsPort.client, "client"],
  [natsPort.route, "route"],
  [natsPort.monitor, "monitor"],
]);

function service(namespace: string, serviceName: string, ports: readonly number[], more: object): KubernetesObject {
  const port = (number: number) => ({ name: portNames.get(number), port: number, targetPort: portNames.get(number) });
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: serviceName, namespace, labels },
    spec: { selector, ports: ports.map((number) => ({ ...port(number), protocol: "TCP" })), ...more },
  };
}

function statefulSet(platform: Platform, checksum: string): KubernetesObject {
  const { nats, platformNamespace: namespace } = platform;
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name, namespace, labels },
    spec: {
      serviceName: natsNames.headless,
      replicas: Number(nats.replicas),
      // Servers of a cluster find each other before the first of them is ready.
      podManagementPolicy: "Parallel",
      revisionHistoryLimit: 3,
      selector: { matchLabels: selector },
      template: {
        metadata: {
          labels: podLabelsOf(platform, "nats", labels),
          ...annotationsOf(platform, "nats", { "weir/checksum": checksum }),
        },
        spec: podSpec(platform),
      },
      volumeClaimTemplates: [
        {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: { name: "data", labels },
          spec: {
            accessModes: ["ReadWriteOnce"],
            ...given("storageClassName", nats.storageClass),
            resources: { requests: { storage: nats.storage } },
          },
        },
      ],
    },
  };
}

function podSpec(platform: Platform) {
  const { images, nats, settings } = platform;
  const { maxCallRecords, asyncMaxBody } = settings.queueDoctor;
  const memory = base + maxCallRecords * memoryPerRecord + messagesAtOnce * asyncMaxBody;
  return {
    serviceAccountName: name,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: podSecurity,
    terminationGracePeriodSeconds: grace,
    ...pullSecretsOf(platform),
    ...(nats.replicas === "1"
      ? {}
      : { affinity: spreadServers, topologySpreadConstraints: spreadOf(platform, "nats", selector) }),
    ...placementOf(platform, "nats"),
    containers: [
      {
        name,
        image: images.nats,
        imagePullPolicy: images.pullPolicy,
        args: ["--config", `/etc/nats/${configFile}`, "--name", "$(POD_NAME)"],
        env: [
          { name: "POD_NAME", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
          ...variablesOf(platform, "nats"),
        ],
        ports: [...portNames].map(([containerPort, portName]) => ({ name: portName, containerPort })),
        startupProbe: probe({ periodSeconds: 1, failureThreshold: 600 }),
        readinessProbe: probe({ periodSeconds: 5, failureThreshold: 2 }),
        livenessProbe: probe({ periodSeconds: 10, failureThreshold: 6 }),
        resources: resourcesOf(platform, "nats", { memory, cpu: "250m" }),
        securityContext: containerSecurity,
        volumeMounts: volumesOf(platform).map(({ volume, mountPath, ...file }) => ({
          name: volume.name,
          mountPath,
          ...file,
        })),
      },
    ],
    volumes: volumesOf(platform).flatMap(({ volume }) => (volume.name === "data" ? [] : [volume])),
  };
}

/** Checks only the server itself; its streams are the queue-doctor's responsibility. */
function probe(times: { readonly periodSeconds: number; readonly failureThreshold: number }) {
  return { httpGet: { path: "/healthz?js-server-only=true", port: "monitor" }, timeoutSeconds: 3, ...times };
}

const spreadServers = {
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: selector } },
      },
    ],
  },
};

function volumesOf(platform: Platform) {
  const { nats } = platform;
  const file = (secret: string) => ({
    secret: { name: secret, items: [{ key: "nats.conf", path: `${secret}.conf` }] },
  });
  const secrets = [
    ...brokerAccounts(platform).map(({ secret }) => secret),
    platformSecret.natsStore,
    ...(nats.replicas === "1" ? [] : [platformSecret.natsRoutes]),
  ];
  const sources = secrets.map(file);
  const tls = { secret: { secretName: platformSecret.natsTls, defaultMode: secretFileMode } };
  return [
    { mountPath: natsDirectory.store, volume: { name: "data" } },
    { mountPath: "/tmp", volume: { name: "tmp", emptyDir: { sizeLimit: "64Mi" } } },
    {
      mountPath: `/etc/nats/${configFile}`,
      subPath: configFile,
      readOnly: true,
      volume: { name: "config", configMap: { name: natsNames.config } },
    },
    {
      mountPath: natsDirectory.secrets,
      readOnly: true,
      volume: { name: "secrets", projected: { defaultMode: secretFileMode, sources } },
    },
    ...(nats.tls ? [{ mountPath: natsDirectory.tls, readOnly: true, volume: { name: "tls", ...tls } }] : []),
  ];
}
