import { accounts } from "../../../runtime/api/accounts.ts";
import { natsUser } from "../../../runtime/api/broker/nats-users.ts";
import { historyPort } from "../../../runtime/api/schemas/history/history-wire.ts";
import { historySettings } from "../../../runtime/history/settings.ts";
import { soleMonitorUrl } from "../broker/nats-addresses.ts";
import { given, type KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf, platformSecret, selectorOf } from "../names.ts";
import type { Platform } from "../platform.ts";
import { brokerProcessEnvironment } from "./common-environment.ts";
import { environmentOf } from "./environment.ts";
import { processDeployment } from "./process-deployment.ts";
import { briefDrain } from "./queue-doctor.ts";

const name = accounts.history;
const mebibyte = 2 ** 20;
/** The process itself: 150 to 180 MB, measured after it caught up with 100 000 records. */
const base = 256 * mebibyte;
/** Each of the processes that read a SQLite file: 55 MB, measured; with a database there are none. */
const eachReader = 64 * mebibyte;
/** While it catches up, a heap without limits grows to twice the memory, and is not faster. */
const nodeOptions = "--max-semi-space-size=4 --max-old-space-size=96";

/** Where its files are; with a database it has none. */
const disk = { claim: name, mountPath: "/data" } as const;

/** The history of calls, if there is one: two pods of which one writes, or one pod with a disk. */
export function historyManifests(platform: Platform): KubernetesObject[] {
  if (!platform.history) return [];
  const { historyDatabase, platformNamespace: namespace, tuning } = platform;
  const hasDatabase = historyDatabase !== undefined;
  const environment = environmentOf(
    historySettings,
    {
      ...brokerProcessEnvironment(platform, natsUser.history),
      natsMonitorUrl: soleMonitorUrl(platform),
      historyDir: hasDatabase ? undefined : `${disk.mountPath}/history`,
      historyHost: "0.0.0.0",
      historyPort,
      logProvider: "kubernetes",
      logData: undefined,
      logEngine: undefined,
      secretMountPath: undefined,
      stopWithInput: undefined,
    },
    tuning,
  );
  const deployment = processDeployment(platform, {
    process: name,
    component: "history",
    replicas: hasDatabase ? 2 : 1,
    environment: [...environment, { name: "NODE_OPTIONS", value: nodeOptions }],
    ports: [{ name: "http", containerPort: historyPort }],
    credentials: [
      { name: platformSecret.historyKey },
      ...(hasDatabase ? [{ name: platformSecret.historyDatabase }] : []),
    ],
    drainTimeout: briefDrain,
    memory: base + (hasDatabase ? 0 : readersOf(platform) * eachReader),
    cpu: "100m",
    broker: true,
    // What it has stored can be read without the broker.
    readyWithout: "broker",
    disk: hasDatabase ? undefined : disk,
  });
  return [...(hasDatabase ? [] : [claim(platform)]), ...deployment, service(namespace)];
}

/** One reads calls, another one log lines. */
function readersOf({ settings: { history } }: Platform): number {
  return history.keptLogs ? 2 : 1;
}

function claim({ platformNamespace: namespace, historyStorage, nats: { storageClass } }: Platform): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: disk.claim, namespace, labels: labelsOf(name) },
    spec: {
      accessModes: ["ReadWriteOnce"],
      ...given("storageClassName", storageClass),
      resources: { requests: { storage: historyStorage } },
    },
  };
}

function service(namespace: string): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      type: "ClusterIP",
      selector: selectorOf(name),
      ports: [{ name: "http", port: historyPort, targetPort: "http", protocol: "TCP" }],
    },
  };
}
