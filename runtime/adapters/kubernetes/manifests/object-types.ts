// The parts of Kubernetes objects (1.34) that the mapping writes or reads, and no others.
import type { ProfileSpec } from "../../../api/resources/profile-resource.ts";
import type { ObjectMeta } from "../client/kube-types.ts";

type Texts = Readonly<Record<string, string>>;

/** Metadata of an object that has its name; what only the API server sets is absent in what we make. */
export interface NamedMeta extends ObjectMeta {
  readonly name: string;
}

/** Any object of Kubernetes. */
export interface NamedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: NamedMeta;
}

/** Matches objects that carry all labels. */
export interface LabelSelector {
  readonly matchLabels?: Texts;
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
}

/** A part of a pod that a Profile may set. */
type Part<Key extends keyof ProfileSpec> = NonNullable<ProfileSpec[Key]>;

export type Affinity = Part<"affinity">;
export type NodeAffinity = NonNullable<Affinity["nodeAffinity"]>;
export type PodAffinity = NonNullable<Affinity["podAffinity"]>;
export type NodeSelectorTerm = NonNullable<
  NodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"]
>["nodeSelectorTerms"][number];
export type NodeSelectorRequirement = NonNullable<NodeSelectorTerm["matchExpressions"]>[number];
export type TopologySpreadConstraint = Part<"topologySpreadConstraints">[number];
export type DnsConfig = Part<"dnsConfig">;
export type PodSecurityContext = Part<"podSecurityContext">;
export type ResourceRequirements = Part<"resources">;
export type DeploymentStrategy = Part<"strategy">;

/** How the kubelet probes a container. */
export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: number };
  readonly tcpSocket?: { readonly port: number };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

/** A function's container. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number; readonly protocol: string }[];
  readonly resources?: ResourceRequirements;
  readonly readinessProbe: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly terminationMessagePolicy: string;
  readonly securityContext: {
    readonly allowPrivilegeEscalation: boolean;
    readonly capabilities: { readonly drop: readonly string[] };
    readonly readOnlyRootFilesystem: boolean;
  };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

/** What a projected directory holds. */
export type VolumeSource =
  | { readonly secret: { readonly name: string } }
  | {
      readonly serviceAccountToken: {
        readonly path: string;
        readonly audience: string;
        readonly expirationSeconds: number;
      };
    };

/** A directory of a pod. */
export interface Volume {
  readonly name: string;
  readonly emptyDir?: object;
  readonly projected?: {
    readonly defaultMode: number;
    readonly sources: readonly VolumeSource[];
  };
}

/** The spec of a function's pods. */
export interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly serviceAccountName?: string;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: PodSecurityContext;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly affinity?: Affinity;
  readonly tolerations?: Part<"tolerations">;
  readonly topologySpreadConstraints: readonly TopologySpreadConstraint[];
  readonly runtimeClassName?: string;
  readonly priorityClassName?: string;
  readonly dnsPolicy?: string;
  readonly dnsConfig?: DnsConfig;
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

/** The template of a function's pods. */
export interface PodTemplate {
  readonly metadata: { readonly labels: Texts; readonly annotations: Texts };
  readonly spec: PodSpec;
}

/** A Deployment as we make it. */
export interface DeploymentObject extends NamedObject {
  readonly spec: {
    readonly replicas: number;
    readonly revisionHistoryLimit: number;
    readonly selector: LabelSelector;
    readonly strategy: DeploymentStrategy;
    readonly template: PodTemplate;
  };
}

/** A Service as we make it. */
export interface ServiceObject extends NamedObject {
  readonly spec: {
    readonly selector: Texts;
    readonly ports: readonly {
      readonly name: string;
      readonly port: number;
      readonly targetPort: number;
      readonly protocol: string;
      readonly appProtocol?: string;
    }[];
  };
}
