import type { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import type { ProfileSpec } from "../../../../runtime/api/resources/profile-resource.ts";
import { mergeProfiles } from "../../../../runtime/adapters/kubernetes/manifests/pods/merge-profiles.ts";
import type { FunctionContext } from "../../../../runtime/adapters/kubernetes/manifests/pods/pod-template.ts";
import type { DesiredFunction } from "../../../../runtime/core/functions/desired-function.ts";

/** A function with the required fields only. */
export const plain: DesiredFunction = desired({ service: "hello", image: "ghcr.io/acme/hello:1" });

/** A function with every field. */
export const full: DesiredFunction = desired({
  service: "resize",
  image: "registry.example.com:5000/acme/resize@sha256:" + "0123456789abcdef".repeat(4),
  envProcess: "node /app/index.js",
  envVars: { exec_timeout: "20s", PRICE: "$(HOME) costs $$5" },
  labels: { "com.service.scale.min": "2", team: "photos" },
  annotations: {
    "com.service.health.http.path": "/alive",
    "com.service.health.http.failureThreshold": "5",
    "com.service.ready.http.initialDelaySeconds": "1",
    "com.service.profile": "gpu, quiet",
    "com.service.serviceaccount": "bucket-reader",
    "com.service.protocol": "http1",
    topic: "photos",
  },
  secrets: ["db", "registry", "api-key"],
  constraints: ["zone=a", "kubernetes.io/arch == amd64"],
  limits: { memory: "256Mi", cpu: "500m", "nvidia.com/gpu": "1" },
  requests: { memory: "128Mi" },
  readOnlyRootFilesystem: true,
});

/** The Profiles that `full` names. */
export const profiles: Readonly<Record<"gpu" | "quiet", ProfileSpec>> = {
  gpu: {
    tolerations: [{ key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" }],
    runtimeClassName: "nvidia",
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "gpu", operator: "Exists" }] }],
        },
      },
    },
    resources: { requests: { cpu: "250m", memory: "64Mi" } },
  },
  quiet: {
    tolerations: [{ key: "batch", operator: "Exists" }],
    priorityClassName: "batch",
    podSecurityContext: { runAsUser: 15_000, fsGroup: 15_000 },
    topologySpreadConstraints: [
      { maxSkew: 2, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule" },
    ],
    dnsPolicy: "ClusterFirst",
    dnsConfig: { options: [{ name: "ndots", value: "2" }] },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } },
  },
};

/** The surroundings of a function. */
export const context: FunctionContext = {
  owner: { name: "hello", uid: "6f2c1a9e-0c35-4a7e-9a8e-0d8d3e1c2b4a" },
  rollout: 1,
  profiles: [],
  pullSecrets: new Set(),
  gatewayUrl: "http://gateway.weir.svc.cluster.local.:8080",
  tokenAudience: "https://weir.example.com/oauth/token",
  longestCall: 30_000,
  defaultLimits: { cpu: "1", memory: "512Mi" },
};

/** The surroundings of `full`. */
export const fullContext: FunctionContext = {
  ...context,
  owner: { ...context.owner, name: "resize" },
  rollout: 7,
  profiles: [profiles.gpu, profiles.quiet],
  pullSecrets: new Set(["registry"]),
};

/** Desired state of `deployment`, deployed once. */
export function desired(deployment: FunctionDeployment): DesiredFunction {
  const at = "2026-01-31T12:00:00.000Z";
  return {
    name: deployment.service,
    namespace: "functions",
    deployment: { ...deployment, namespace: "functions" },
    replicas: 1,
    generation: 1,
    createdAt: at,
    updatedAt: at,
  };
}

/** `wanted` with some fields of its deployment replaced. */
export function changed(wanted: DesiredFunction, fields: Partial<FunctionDeployment>): DesiredFunction {
  return { ...wanted, deployment: { ...wanted.deployment, ...fields } };
}

/** Both Profiles merged. */
export const merged: ProfileSpec = mergeProfiles([profiles.gpu, profiles.quiet]);
