// The parts of Kubernetes objects (1.34) that the mapping writes or reads, and no others.
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

/** A rule about one label. */
export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Rules that a node must fulfil all. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

/** Where pods may and should run; entries we never look into stay as they came. */
export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
    };
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly object[];
  };
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

/** Beside which pods pods may and should run. */
export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly object[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly object[];
}

/** How evenly pods are to be spread. */
export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector;
  readonly [field: string]: unknown;
}

/** How pods look names up. */
export interface DnsConfig {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly { readonly name: string; readonly value?: string }[];
}

/** Who the processes of a pod are and what they may. */
export interface PodSecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly fsGroup?: number;
  readonly fsGroupChangePolicy?: string;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: string;
  readonly seccompProfile?: { readonly type: string; readonly localhostProfile?: string };
  readonly appArmorProfile?: { readonly type: string; readonly localhostProfile?: string };
  readonly seLinuxOptions?: {
    readonly level?: string;
    readonly role?: string;
    readonly type?: string;
    readonly user?: string;
  };
  readonly seLinuxChangePolicy?: string;
  readonly sysctls?: readonly { readonly name: string; readonly value: string }[];
}

/** Amounts by resource name. */
export interface ResourceRequirements {
  readonly limits?: Texts;
  readonly requests?: Texts;
}

/** How replicas are replaced. */
export interface DeploymentStrategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly maxSurge?: number | string; readonly maxUnavailable?: number | string };
}

/** How the kubelet asks a container. */
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

/** A directory of a pod. */
export interface Volume {
  readonly name: string;
  readonly emptyDir?: object;
  readonly projected?: {
    readonly defaultMode: number;
    readonly sources: readonly { readonly secret: { readonly name: string } }[];
  };
}

/** What all pods of a function are. */
export interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly serviceAccountName?: string;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: PodSecurityContext;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly affinity?: Affinity;
  readonly tolerations?: readonly object[];
  readonly topologySpreadConstraints: readonly TopologySpreadConstraint[];
  readonly runtimeClassName?: string;
  readonly priorityClassName?: string;
  readonly dnsPolicy?: string;
  readonly dnsConfig?: DnsConfig;
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

/** What pods are made from. */
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
