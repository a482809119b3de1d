import { historyPort } from "../../runtime/api/schemas/history/history-wire.ts";
import { clusterTokenIssuer } from "../../runtime/settings/platform-settings.ts";
import type { Values } from "../../runtime/settings/setting.ts";
import type { autoscalerSettings } from "../../runtime/autoscaler/settings.ts";
import type { gatewaySettings } from "../../runtime/gateway/settings.ts";
import type { historySettings } from "../../runtime/history/settings.ts";
import type { operatorSettings } from "../../runtime/operator/settings.ts";
import type { declaredQueues, queueDoctorSettings } from "../../runtime/queue-doctor/settings.ts";
import type { queueWorkerSettings } from "../../runtime/queue-worker/settings.ts";
import type { Tuning } from "./processes/environment.ts";
import type { ReplicaRange } from "./replicas/replica-range.ts";
import type { generalOptions, groupedOptions } from "./platform-options.ts";

type Groups = { readonly [K in keyof typeof groupedOptions]: Values<(typeof groupedOptions)[K]> };

/** Everything from which the manifests are built, checked as a whole. */
export interface Platform extends Values<typeof generalOptions>, Groups {
  /** The configured settings of the processes, by key. */
  readonly tuning: Tuning;
  /** The settings that each process will read, for values derived from them. */
  readonly settings: {
    readonly gateway: Values<typeof gatewaySettings>;
    readonly queueWorker: Values<typeof queueWorkerSettings>;
    readonly queueDoctor: Values<typeof queueDoctorSettings>;
    readonly autoscaler: Values<typeof autoscalerSettings>;
    readonly operator: Values<typeof operatorSettings>;
    readonly history: Values<typeof historySettings>;
  };
  /** The default one first. */
  readonly queues: ReturnType<typeof declaredQueues>;
  /** The queues whose workers an autoscaler counts, by name. */
  readonly queueRanges: ReadonlyMap<string, ReplicaRange>;
  /** Whether the edition has several namespaces of functions. */
  readonly manyNamespaces: boolean;
  /** Whether the edition has identity and access. */
  readonly hasIam: boolean;
}

/** Origin of the gateway in the cluster; the closing dot avoids needless DNS look-ups. */
export function gatewayOrigin({ platformNamespace, clusterDomain }: Platform): string {
  return `http://gateway.${platformNamespace}.svc.${clusterDomain}.:8080`;
}

/** Origin of the history in the cluster. */
export function historyOrigin({ platformNamespace, clusterDomain }: Platform): string {
  return `http://history.${platformNamespace}.svc.${clusterDomain}.:${historyPort}`;
}

/** Issuer of the platform's tokens; another one ends all tokens. */
export function tokenIssuer(platform: Platform): string {
  const { platformNamespace } = platform;
  const clusterGatewayUrl = gatewayOrigin(platform);
  return clusterTokenIssuer({ platformNamespace, clusterGatewayUrl, publicUrl: publicUrlOf(platform) });
}

/** Whether TLS is terminated in front of the gateway for clients outside. */
export function isTlsInFront(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith("https://") === true;
}

/** Address of the gateway for people, if there is one. */
export function publicUrlOf({ publicUrl, ingress, httpRoute }: Platform): string | undefined {
  if (publicUrl !== undefined) return publicUrl;
  // Whether a listener of the Gateway has TLS is not known here.
  if (ingress.host === undefined) return httpRoute.host === undefined ? undefined : `http://${httpRoute.host}`;
  const encrypted = ingress.tlsSecret !== undefined || ingress.clusterIssuer !== undefined;
  return `${encrypted ? "https" : "http"}://${ingress.host}`;
}
