import type { customResources } from "../../runtime/api/resources/custom-resources.ts";

/** The objects that `docs/reference/custom-resources.md` shows; a test has a real API server accept them. */
export const manifestExamples = {
  function: {
    apiVersion: "service.com/v1",
    kind: "Function",
    metadata: { name: "hello", namespace: "functions" },
    spec: {
      image: "ghcr.io/acme/hello:1",
      environment: { exec_timeout: "5s" },
      labels: { "com.service.scale.min": "2", "com.service.scale.zero": "true" },
      annotations: { "com.service.profile": "spot" },
      secrets: ["api-key"],
      requests: { memory: "64Mi" },
      limits: { memory: "128Mi" },
    },
  },
  profile: {
    apiVersion: "service.com/v1",
    kind: "Profile",
    metadata: { name: "spot", namespace: "weir" },
    spec: {
      tolerations: [{ key: "spot", operator: "Exists", effect: "NoSchedule" }],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" },
      ],
    },
  },
  secret: {
    apiVersion: "service.com/v1",
    kind: "Secret",
    metadata: { name: "api-key", namespace: "functions" },
    spec: { secretRef: { name: "api-key" }, keys: ["api-key"] },
  },
  jwtIssuer: {
    apiVersion: "iam.service.com/v1",
    kind: "JwtIssuer",
    metadata: { name: "acme", namespace: "weir" },
    spec: { iss: "https://issuer.example.com", aud: ["weir"], tokenExpiry: "1h" },
  },
  policy: {
    apiVersion: "iam.service.com/v1",
    kind: "Policy",
    metadata: { name: "deployers", namespace: "weir" },
    spec: {
      statement: [
        {
          sid: "deploy-to-dev",
          effect: "Allow",
          action: ["Function:*", "Secret:List"],
          resource: ["dev:*"],
          condition: { StringEqual: { "jwt:team": ["core"] } },
        },
      ],
    },
  },
  role: {
    apiVersion: "iam.service.com/v1",
    kind: "Role",
    metadata: { name: "core-team", namespace: "weir" },
    spec: { policy: ["deployers"], principal: { "jwt:sub": ["ada@example.com"] } },
  },
} as const satisfies Readonly<Record<keyof typeof customResources, object>>;
