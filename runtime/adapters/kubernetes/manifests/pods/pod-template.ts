import { annotation, objectAnnotation } from "../../../../api/names.ts";
import type { DesiredFunction } from "../../../../core/functions/desired-function.ts";
import { functionPort } from "../../../../core/functions/function-port.ts";
import { keyValue } from "../../../../core/labels/keys.ts";
import { contentHash } from "../content-hash.ts";
import type { ProfileSpec } from "../../../../api/resources/profile-resource.ts";
import { mergeProfiles } from "./merge-profiles.ts";
import { functionLabels, functionSelector, type FunctionOwner } from "../object-names.ts";
import type {
  Container,
  PodSecurityContext,
  PodSpec,
  PodTemplate,
  Probe,
  TopologySpreadConstraint,
} from "../object-types.ts";
import { podAffinity } from "./pod-affinity.ts";
import { podEnvironment } from "./pod-environment.ts";
import { podGrace, unpublishSeconds } from "./pod-grace.ts";
import { podProbes } from "./pod-probes.ts";
import { podResources } from "./pod-resources.ts";
import { podSecrets } from "./pod-secrets.ts";
import { podToken } from "./pod-token.ts";

/** What the objects of a function depend on, besides the function. */
export interface FunctionContext {
  readonly owner: FunctionOwner;
  /** Of the Function object, see `rolloutCount`. */
  readonly rollout: number;
  /** Those the function names, in its order. */
  readonly profiles: readonly ProfileSpec[];
  /** Names of those of the function's secrets that are credentials of image registries. */
  readonly pullSecrets: ReadonlySet<string>;
  /** Where functions reach the gateway. */
  readonly gatewayUrl: string;
  /** Audience of workload tokens; absent: functions get none. */
  readonly tokenAudience?: string | undefined;
  /** Milliseconds a call may take at most: the longest of `upstream_timeout` and the timeouts of the queues. */
  readonly longestCall: number;
  /** What the namespace gives a container that names no limit. */
  readonly defaultLimits: Readonly<Record<string, string>>;
}

/** User and group that functions run as, unless a Profile says otherwise. */
const functionUser = 12_000;
const temporary = "tmp";

/**
 * The pod template of a function. Any change in it replaces the pods; its annotation `revision` distinguishes the pods
 * of one template from those of another.
 * @throws PlatformError `validation_failed` for what `functionFault` finds
 */
export function podTemplate(wanted: DesiredFunction, context: FunctionContext): PodTemplate {
  const labels = functionLabels(wanted.name);
  const spec = podSpec(wanted, context);
  const revision = contentHash({ rollout: context.rollout, labels, spec });
  return { metadata: { labels, annotations: { [objectAnnotation.revision]: revision } }, spec: asStored(spec) };
}

/** The API server stores no delay of zero: a wanted one would never be found, and be written again at every start. */
function asStored({ containers, ...spec }: PodSpec): PodSpec {
  const probe = ({ initialDelaySeconds = 0, ...rest }: Probe): Probe =>
    initialDelaySeconds === 0 ? rest : { initialDelaySeconds, ...rest };
  return {
    ...spec,
    containers: containers.map(({ readinessProbe, livenessProbe, ...others }) => ({
      ...others,
      readinessProbe: probe(readinessProbe),
      ...(livenessProbe === undefined ? {} : { livenessProbe: probe(livenessProbe) }),
    })),
  };
}

function podSpec(wanted: DesiredFunction, context: FunctionContext): PodSpec {
  const { deployment } = wanted;
  const profile = mergeProfiles(context.profiles);
  const secrets = podSecrets(deployment.secrets ?? [], context.pullSecrets);
  const serviceAccountName = keyValue(deployment.annotations, annotation.serviceAccount);
  const token = podToken(serviceAccountName, context.tokenAudience);
  const affinity = podAffinity(deployment.constraints ?? [], profile.affinity);
  const { tolerations, runtimeClassName, priorityClassName, dnsPolicy, dnsConfig } = profile;
  return {
    // No function gets a token that is good at the API server.
    automountServiceAccountToken: false,
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
    enableServiceLinks: false,
    terminationGracePeriodSeconds: podGrace(deployment, context.longestCall).podSeconds,
    securityContext: securityContext(profile.podSecurityContext),
    ...(secrets.imagePullSecrets === undefined ? {} : { imagePullSecrets: secrets.imagePullSecrets }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(tolerations === undefined ? {} : { tolerations }),
    topologySpreadConstraints: spread(wanted.name, profile.topologySpreadConstraints ?? []),
    ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
    ...(dnsPolicy === undefined ? {} : { dnsPolicy }),
    ...(dnsConfig === undefined ? {} : { dnsConfig }),
    containers: [container(wanted, context, profile, [...secrets.volumeMounts, ...token.volumeMounts])],
    volumes: [{ name: temporary, emptyDir: {} }, ...secrets.volumes, ...token.volumes],
  };
}

function container(
  wanted: DesiredFunction,
  { gatewayUrl, tokenAudience, longestCall, defaultLimits }: FunctionContext,
  profile: ProfileSpec,
  mounts: Container["volumeMounts"],
): Container {
  const { name, deployment } = wanted;
  const resources = podResources(deployment, profile.resources, defaultLimits);
  return {
    name,
    image: deployment.image,
    imagePullPolicy: pullPolicy(deployment.image),
    env: podEnvironment(wanted, { gatewayUrl, tokenAudience, grace: podGrace(deployment, longestCall).container }),
    ports: [{ name: "http", containerPort: functionPort, protocol: "TCP" }],
    ...(resources === undefined ? {} : { resources }),
    ...podProbes(deployment.annotations),
    lifecycle: { preStop: { sleep: { seconds: unpublishSeconds } } },
    // Puts the last lines of a failed container into its status, from where conditions quote them.
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: deployment.readOnlyRootFilesystem ?? false,
    },
    volumeMounts: [{ name: temporary, mountPath: "/tmp" }, ...mounts],
  };
}

function securityContext(profile: PodSecurityContext = {}): PodSecurityContext {
  return {
    runAsUser: functionUser,
    runAsGroup: functionUser,
    runAsNonRoot: profile.runAsUser !== 0,
    fsGroup: functionUser,
    seccompProfile: { type: "RuntimeDefault" },
    ...profile,
  };
}

/** Spreads pods over nodes and zones as far as possible; a Profile's constraint on the same topology wins. */
function spread(name: string, own: readonly TopologySpreadConstraint[]): readonly TopologySpreadConstraint[] {
  const always: readonly TopologySpreadConstraint[] = ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
    .filter((topologyKey) => own.every((constraint) => constraint.topologyKey !== topologyKey))
    .map((topologyKey) => ({ maxSkew: 1, topologyKey, whenUnsatisfiable: "ScheduleAnyway" }));
  // A Profile cannot select the function's pods, and a constraint without a selector would count none.
  return [...own, ...always].map((constraint) => ({
    ...constraint,
    labelSelector: constraint.labelSelector ?? { matchLabels: functionSelector(name) },
  }));
}

/** A digest or a fixed tag always means the same image; `latest`, the tag of an image that names none, does not. */
function pullPolicy(image: string): "IfNotPresent" | "Always" {
  if (image.includes("@")) return "IfNotPresent";
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? "latest";
  return tag === "latest" ? "Always" : "IfNotPresent";
}
