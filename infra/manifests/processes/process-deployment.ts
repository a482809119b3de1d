import type { Account } from "../../../runtime/api/accounts.ts";
import { credentialSettings } from "../../../runtime/settings/platform-settings.ts";
import type { EnvironmentVariable } from "./environment.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf, natsSecretName, platformSecret, selectorOf } from "../names.ts";
import type { Component } from "../platform-options.ts";
import type { Platform } from "../platform.ts";
import { authorityParts } from "../egress/trusted-authorities.ts";
import { mostPods, replicaAutoscaler, type PodCount } from "../replicas/replica-range.ts";
import {
  annotationsOf,
  containerSecurity,
  disruptionBudget,
  graceSeconds,
  placementOf,
  podLabelsOf,
  podSecurity,
  pullSecretsOf,
  resourcesOf,
  secretFileMode,
  spreadOf,
  variablesOf,
} from "../pods.ts";

/** A Secret whose files a process reads. */
export interface CredentialSource {
  readonly name: string;
  /** The only files that are mounted, and the path of each below `secret_mount_path`; all files when absent. */
  readonly items?: readonly { readonly key: string; readonly path: string }[];
  /** Whether the pods start without the Secret, or without those files. */
  readonly optional?: boolean;
}

/** One of our processes, as described by its file in this folder. */
export interface ProcessFacts {
  /** Folder below `runtime`, and service account. */
  readonly process: Account;
  /** Name of the Deployment; that of the process when absent. */
  readonly name?: string;
  readonly component: Component;
  readonly replicas: PodCount;
  readonly environment: readonly EnvironmentVariable[];
  /** Ports besides the admin port. */
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  /** The credential Secrets that are mounted at `secret_mount_path`. */
  readonly credentials?: readonly CredentialSource[];
  /** Milliseconds the process gives itself to stop. */
  readonly drainTimeout: number;
  /** Bytes. */
  readonly memory: number;
  readonly cpu: string;
  /** Whether it is a user of the broker. */
  readonly broker: boolean;
  /** A check that `/readyz` excludes, because all pods would fail it at once and go out of service. */
  readonly readyWithout?: "broker";
  /** A disk of its own, by the name of its claim: one pod at a time has it, so the old one ends before the next begins. */
  readonly disk?: { readonly claim: string; readonly mountPath: string } | undefined;
  /** A ConfigMap with its settings file, and a checksum of its content. */
  readonly config?: { readonly configMap: string; readonly file: string; readonly checksum: string };
}

/** The port for probes and metrics, in every pod except the broker's. */
export const adminPort = 8_082;

/** Where the credentials of the broker's user are mounted. */
export const brokerDirectory = "/var/run/weir/broker";
const configDirectory = "/etc/weir";
const credentialDirectory = credentialSettings.secretMountPath.fallback ?? "";

/**
 * The Deployment of a process, its autoscaler if it has one, and a disruption budget when it may have several pods. The
 * count of an autoscaled Deployment is not in it: whoever applies it again would set it back.
 */
export function processDeployment(platform: Platform, facts: ProcessFacts): KubernetesObject[] {
  const { process, name = process, replicas } = facts;
  const namespace = platform.platformNamespace;
  const labels = labelsOf(process, name);
  const selector = selectorOf(process, name);
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      ...(typeof replicas === "number" && { replicas }),
      revisionHistoryLimit: 3,
      selector: { matchLabels: selector },
      strategy:
        facts.disk === undefined
          ? { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
          : { type: "Recreate" },
      template: {
        metadata: {
          labels: podLabelsOf(platform, facts.component, labels),
          ...annotationsOf(platform, facts.component, {
            ...(facts.config !== undefined && { "weir/checksum": facts.config.checksum }),
            ...authorityParts(platform).annotations,
          }),
        },
        spec: podSpec(platform, facts, name, selector),
      },
    },
  };
  return [
    deployment,
    ...replicaAutoscaler(replicas, deployment.metadata),
    ...(mostPods(replicas) > 1 ? [disruptionBudget(name, namespace, labels)(selector)] : []),
  ];
}

function podSpec(platform: Platform, facts: ProcessFacts, name: string, selector: Readonly<Record<string, string>>) {
  const volumes = volumesOf(platform, facts, name);
  return {
    serviceAccountName: facts.process,
    automountServiceAccountToken: true,
    enableServiceLinks: false,
    securityContext: podSecurity,
    terminationGracePeriodSeconds: graceSeconds(facts.drainTimeout),
    ...pullSecretsOf(platform),
    ...placementOf(platform, facts.component),
    // With one pod, too: adding this later, with a second pod, would replace the first.
    topologySpreadConstraints: spreadOf(platform, facts.component, selector),
    containers: [
      {
        name: facts.process,
        image: platform.images.weir,
        imagePullPolicy: platform.images.pullPolicy,
        args: [facts.process, ...(facts.config ? ["--config", `${configDirectory}/${facts.config.file}`] : [])],
        env: [...facts.environment, ...authorityParts(platform).environment, ...variablesOf(platform, facts.component)],
        ports: [...(facts.ports ?? []), { name: "admin", containerPort: adminPort }],
        readinessProbe: probe(readinessPath(facts), { periodSeconds: 2, failureThreshold: 2 }),
        livenessProbe: probe("/livez", { periodSeconds: 10, failureThreshold: 6 }),
        resources: resourcesOf(platform, facts.component, facts),
        securityContext: containerSecurity,
        volumeMounts: volumes.map(({ mountPath, volume }) => ({
          name: volume.name,
          mountPath,
          ...(writable.includes(volume.name) ? {} : { readOnly: true }),
        })),
      },
    ],
    volumes: volumes.map(({ volume }) => volume),
  };
}

/** Volumes that a process writes to. */
const writable: readonly string[] = ["tmp", "disk"];

function probe(path: string, times: { readonly periodSeconds: number; readonly failureThreshold: number }) {
  return { httpGet: { path, port: "admin" }, timeoutSeconds: 2, ...times };
}

function readinessPath({ readyWithout }: ProcessFacts): string {
  return readyWithout === undefined ? "/readyz" : `/readyz?exclude=${readyWithout}`;
}

function volumesOf(platform: Platform, { broker, credentials = [], disk, config }: ProcessFacts, name: string) {
  const { nats } = platform;
  const projected = (sources: readonly object[]) => ({ projected: { defaultMode: secretFileMode, sources } });
  const user = { secret: { name: natsSecretName(name), items: [{ key: "password", path: "password" }] } };
  const authority = { secret: { name: platformSecret.natsTls, items: [{ key: "ca.crt", path: "ca.crt" }] } };
  return [
    { mountPath: "/tmp", volume: { name: "tmp", emptyDir: { sizeLimit: "64Mi" } } },
    ...(broker
      ? [
          {
            mountPath: brokerDirectory,
            volume: { name: "broker", ...projected([user, ...(nats.tls ? [authority] : [])]) },
          },
        ]
      : []),
    ...(credentials.length > 0
      ? [
          {
            mountPath: credentialDirectory,
            volume: { name: "credentials", ...projected(credentials.map((secret) => ({ secret }))) },
          },
        ]
      : []),
    ...(disk === undefined
      ? []
      : [
          {
            mountPath: disk.mountPath,
            volume: { name: "disk", persistentVolumeClaim: { claimName: disk.claim } },
          },
        ]),
    ...(config === undefined
      ? []
      : [{ mountPath: configDirectory, volume: { name: "config", configMap: { name: config.configMap } } }]),
    ...authorityParts(platform).volumes,
  ];
}
