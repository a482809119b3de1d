import { globSync, readFileSync } from "node:fs";

import { customResources, type CustomResource } from "../../runtime/api/resources/custom-resources.ts";
import { manifestExamples } from "../../scripts/crds/examples.ts";
import type { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";

export type ResourceKey = keyof typeof customResources;

/** An object of a kind with its specification. */
export interface ResourceRow {
  readonly kind: ResourceKey;
  readonly name: string;
  readonly spec: unknown;
}

/** A row that the API server must reject, naming the field and the violated rule. */
export interface BadRow extends ResourceRow {
  readonly field: string;
  readonly rule: string;
}

/** The object as it is sent. */
export function objectOf({ kind, name, spec }: ResourceRow) {
  const { group, version, kind: word }: CustomResource = customResources[kind];
  return { apiVersion: `${group}/${version}`, kind: word, metadata: { name }, spec };
}

const image = "ghcr.io/acme/hello:1";
const hello = { image };

/** A deployment of the REST API as a specification of the custom resource. */
export function functionSpecOf(deployment: FunctionDeployment): Readonly<Record<string, unknown>> {
  const words: Readonly<Record<string, string>> = { service: "name", envProcess: "handler", envVars: "environment" };
  return Object.fromEntries(
    Object.entries(deployment)
      .filter(([field]) => field !== "namespace")
      .map(([field, value]) => [words[field] ?? field, value]),
  );
}

function exampleRows(): ResourceRow[] {
  const examples = new URL("../../examples/", import.meta.url);
  return globSync("*/example.json", { cwd: examples }).map((file) => {
    const text = readFileSync(new URL(file, examples), "utf8");
    const { deployment } = JSON.parse(text) as { deployment: FunctionDeployment };
    return { kind: "function", name: deployment.service, spec: functionSpecOf(deployment) };
  });
}

const good = (kind: ResourceKey, spec: unknown, name = "good"): ResourceRow => ({ kind, name, spec });
const labelled = (labels: Record<string, string>): ResourceRow => good("function", { image, labels });
const annotated = (annotations: Record<string, string>): ResourceRow => good("function", { image, annotations });
const numbered = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));

const expression = { key: "zone", operator: "In", values: ["a"] };
const podTerm = {
  labelSelector: { matchLabels: { app: "x" }, matchExpressions: [expression] },
  namespaces: ["dev"],
  namespaceSelector: {},
  topologyKey: "kubernetes.io/hostname",
  matchLabelKeys: ["a"],
  mismatchLabelKeys: ["b"],
};
const podTerms = {
  requiredDuringSchedulingIgnoredDuringExecution: [podTerm],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: podTerm }],
};

/** Objects that the API server must accept. */
export const goodRows: readonly ResourceRow[] = [
  ...exampleRows(),
  ...Object.entries(manifestExamples).map(([kind, { metadata, spec }]) =>
    good(kind as ResourceKey, spec, metadata.name),
  ),
  good("function", hello, "0-is-first"),
  good("function", { image, name: "same" }, "same"),
  good("function", hello, "a".repeat(63)),
  good("function", {
    name: "good",
    image: "registry.example.com:5000/acme/hello@sha256:0123",
    handler: "node 'a b'.js",
    environment: { exec_timeout: "1m30s", "a.b-c": "", empty: "" },
    labels: { "com.service.scale.min": "2", "com.service.scale.max": "1000", "example.com/team": "core", unknown: "" },
    annotations: { topic: "any text at all \n é", "com.service.unknown": "x" },
    secrets: ["a", "b.c"],
    constraints: ["zone=a", "disk==ssd"],
    limits: { memory: "128Mi", cpu: "0.5", "nvidia.com/gpu": "1" },
    requests: { memory: "128Mi", cpu: "500m", "nvidia.com/gpu": "1" },
    readOnlyRootFilesystem: true,
    replicas: 1_000,
  }),
  good("function", { image, labels: {}, annotations: {}, secrets: [], environment: {}, constraints: [], limits: {} }),
  good("function", { image, replicas: 0 }),
  good("function", { image, replicas: 20 }),
  good("function", { image, environment: { a: "x".repeat(262_143) } }),
  good("function", { image, environment: numbered(1_024) }),
  good("function", { image, environment: { exec_timeout: "0" } }),
  good("function", { image, handler: "é".repeat(2_048) }),
  good("function", { image, limits: { "nvidia.com/gpu": "1000m" }, requests: { cpu: "1e3", memory: "1.5k" } }),
  good("function", { image, secrets: Array.from({ length: 64 }, (_, index) => `s${index}`) }),
  labelled(numbered(128)),
  labelled({
    "com.service.scale.zero": "YES",
    "com.service.scale.zero-duration": "10s",
    "com.service.scale.type": "queue",
    "com.service.scale.target": "0.5",
    "com.service.scale.target-proportion": "1",
    "com.service.scale.down.window": "5m",
  }),
  labelled({ "com.openfaas.scale.min": "3", "com.openfaas.scale.max": "3", "com.service.scale.zero": "" }),
  labelled({ "com.service.scale.min": "3", "com.openfaas.scale.min": "x" }),
  labelled({ "com.service.scale.zero-duration": "90", "com.service.scale.down.window": "1m30.5s500ms" }),
  annotated(numbered(128)),
  annotated({ big: "x".repeat(262_141) }),
  annotated({
    "com.service.queue": "slow_1",
    "com.service.retry.attempts": "0",
    "com.service.retry.codes": "408, 429 ,599",
    "com.service.retry.min_wait": "0s",
    "com.service.retry.max_wait": "8784h",
    "com.service.auth": "required",
    "com.service.concurrency.max": "100000",
    "com.service.result.ttl": "24h",
    "com.service.history.bodies": "168h",
    "com.service.timeout": "1h",
    "com.service.protocol": "h2c",
    "com.service.profile": "gpu, spot.large",
    "com.service.serviceaccount": "build.er",
    "com.service.health.http.path": "/_/health?x=1",
    "com.service.health.http.initialDelaySeconds": "0",
    "com.service.health.http.periodSeconds": "1",
    "com.service.health.http.timeoutSeconds": "3600",
    "com.service.health.http.failureThreshold": "1000",
    "com.openfaas.ready.http.path": "/",
    "com.openfaas.ready.http.initialDelaySeconds": "3600",
    "com.openfaas.ready.http.periodSeconds": "05",
    "com.openfaas.ready.http.timeoutSeconds": "1",
    "com.openfaas.ready.http.failureThreshold": "1",
  }),
  annotated({ "com.service.retry.codes": "", "com.service.auth": "none", "com.service.retry.min_wait": "1ms" }),
  good("profile", {}),
  good("profile", {
    tolerations: [
      { key: "gpu", operator: "Equal", value: "yes", effect: "NoSchedule" },
      { operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 },
    ],
    runtimeClassName: "gvisor",
    podSecurityContext: {
      runAsUser: 1_000,
      runAsGroup: 1_000,
      runAsNonRoot: true,
      fsGroup: 1_000,
      fsGroupChangePolicy: "OnRootMismatch",
      supplementalGroups: [1, 2],
      supplementalGroupsPolicy: "Strict",
      seccompProfile: { type: "RuntimeDefault" },
      appArmorProfile: { type: "Localhost", localhostProfile: "x" },
      seLinuxOptions: { user: "u", role: "r", type: "t", level: "l" },
      sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }],
    },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [expression], matchFields: [expression] }],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, preference: { matchExpressions: [{ key: "gpu", operator: "Exists" }] } },
        ],
      },
      podAffinity: podTerms,
      podAntiAffinity: podTerms,
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: { app: "x" } },
        minDomains: 2,
        nodeAffinityPolicy: "Honor",
        nodeTaintsPolicy: "Ignore",
        matchLabelKeys: ["a"],
      },
    ],
    dnsPolicy: "None",
    dnsConfig: { nameservers: ["10.0.0.1"], searches: ["a.b"], options: [{ name: "ndots", value: "2" }] },
    resources: { limits: { cpu: "1" }, requests: { cpu: "500m" } },
    priorityClassName: "high",
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
  }),
  good("profile", { strategy: { type: "Recreate" } }),
  good("secret", { secretRef: { name: "api-key" } }),
  good("secret", { secretRef: { name: "a.b", uid: "5c0e4d7b-9a53" }, keys: ["tls.crt", ".hidden", "_A"] }, "a.b"),
  good("jwtIssuer", { iss: "https://issuer.example.com", aud: ["weir"] }),
  good("jwtIssuer", {
    iss: "https://kubernetes.default.svc.cluster.local",
    aud: ["a", "b"],
    issInternal: "http://issuer.auth.svc:8080/realms/x",
    tokenExpiry: "1h30m",
    nameClaim: "email",
  }),
  good("policy", {
    statement: [
      { sid: "all", effect: "Allow", action: ["*"], resource: ["*"] },
      {
        sid: "some",
        effect: "Allow",
        action: ["Function:*", "Function:Invoke", "System:Info"],
        resource: ["dev:*", "dev:env-*", "*:hello"],
        condition: {
          StringEqual: { "jwt:team": ["core", "ops"], "jwt:sub": "a" },
          "ForAnyValue:StringEqual": { "jwt:groups": ["x"] },
        },
      },
    ],
  }),
  good("role", { policy: ["deployers"] }),
  good("role", {
    policy: ["a", "b.c"],
    principal: { "jwt:sub": ["repo:acme/shop"] },
    condition: { StringLike: { "jwt:ref": "refs/heads/*" } },
  }),
];

type Bad = readonly [field: string, rule: string, spec: unknown];
const rows = (kind: ResourceKey, name: string, list: readonly Bad[]): BadRow[] =>
  list.map(([field, rule, spec]) => ({ kind, name, field, rule, spec }));

const label = (key: string, value: string, rule: string): Bad => [
  "spec.labels",
  `com.service.${key}: expected ${rule}`,
  { image, labels: { [`com.service.${key}`]: value } },
];
const annotation = (key: string, value: string, rule: string): Bad => [
  "spec.annotations",
  `com.service.${key}: expected ${rule}`,
  { image, annotations: { [`com.service.${key}`]: value } },
];
const probes = (part: string): Bad[] => [
  annotation(`${part}.http.path`, "ready", 'a path that begins with "/"'),
  annotation(`${part}.http.path`, `/${"a".repeat(1_024)}`, 'a path that begins with "/"'),
  annotation(`${part}.http.initialDelaySeconds`, "3601", "a whole number from 0 to 3600"),
  annotation(`${part}.http.periodSeconds`, "0", "a whole number from 1 to 3600"),
  annotation(`${part}.http.timeoutSeconds`, "1.5", "a whole number from 1 to 3600"),
  annotation(`${part}.http.failureThreshold`, "1001", "a whole number from 1 to 1000"),
];
const statement = { sid: "one", effect: "Allow", action: ["Function:List"], resource: ["*"] };
const issuer = { iss: "https://issuer.example.com", aud: ["weir"] };

/** Objects that the API server must reject, with the field and the rule that its message names. */
export const badRows: readonly BadRow[] = [
  ...rows("function", "a.b", [["metadata.name", "should match", hello]]),
  ...rows("function", "a".repeat(64), [["metadata.name", "Too long: may not be more than 63", hello]]),
  ...rows("function", "bad", [
    ["spec", "Required value", undefined],
    ["spec.name", "expected the name of the object, metadata.name", { image, name: "other" }],
    ["spec.name", "should match", { image, name: "Hello" }],
    ["spec.name", "must be of type string", { image, name: 1 }],
    ["spec.image", "Required value", {}],
    ["spec.image", "should match", { image: "http://x/y" }],
    ["spec.image", "should match", { image: "--privileged" }],
    ["spec.image", "should match", { image: "a b" }],
    ["spec.image", "Too long: may not be more than 1024", { image: "a".repeat(1_025) }],
    ["spec.handler", "should match", { image, handler: "a\0" }],
    ["spec.handler", "expected at most 4096 bytes", { image, handler: "é".repeat(2_049) }],
    ["spec.handler", "Too long: may not be more than 4096", { image, handler: "a".repeat(4_097) }],
    ["spec.environment", 'expected keys that are letters, digits, "_"', { image, environment: { "1a": "" } }],
    ["spec.environment.a", "should match", { image, environment: { a: "\0" } }],
    ["spec.environment.a", "must be of type string", { image, environment: { a: 1 } }],
    ["spec.environment", "expected at most 262144 characters", { image, environment: { a: "x".repeat(262_144) } }],
    ["spec.environment", "at most 1024 items", { image, environment: numbered(1_025) }],
    ["spec.environment", "exec_timeout: expected a duration", { image, environment: { exec_timeout: "soon" } }],
    ["spec.labels.a", "must be of type string", { image, labels: { a: 1 } }],
    ["spec.labels.a", "should match", { image, labels: { a: "b c" } }],
    ["spec.labels.a", "Too long: may not be more than 63", { image, labels: { a: "x".repeat(64) } }],
    ["spec.labels", "expected keys that are an optional DNS prefix", { image, labels: { "a b": "" } }],
    ["spec.labels", "at most 253 characters before the /", { image, labels: { [`${"a".repeat(254)}/a`]: "" } }],
    ["spec.labels", "at most 128 items", { image, labels: numbered(129) }],
    label("scale.min", "x", "a whole number from 1 to 1000"),
    label("scale.min", "0", "a whole number from 1 to 1000"),
    label("scale.max", "1001", "a whole number from 1 to 1000"),
    label("scale.min", "21", "at most com.service.scale.max"),
    ["spec.labels", "com.service.scale.min: expected at most", { image, labels: { "com.openfaas.scale.min": "21" } }],
    label("scale.zero", "maybe", "true or false"),
    label("scale.zero-duration", "9s", "a duration from 10s to 8784h"),
    label("scale.zero-duration", "8785h", "a duration from 10s to 8784h"),
    label("scale.zero-duration", "soon", "a duration from 10s to 8784h"),
    label("scale.type", "disk", '"rps" or "capacity" or "cpu" or "queue"'),
    label("scale.target", "0", "a number above 0"),
    label("scale.target-proportion", "1.1", "a number above 0, at most 1"),
    label("scale.down.window", "6m", "a duration from 0s to 5m"),
    ["spec.annotations", "expected keys that are an optional DNS prefix", { image, annotations: { "-a": "" } }],
    ["spec.annotations", "at most 128 items", { image, annotations: numbered(129) }],
    ["spec.annotations", "expected at most 262144 characters", { image, annotations: { a: "x".repeat(262_144) } }],
    annotation("queue", "A B", 'a to z, 0 to 9, "_" and "-"'),
    annotation("queue", "", 'a to z, 0 to 9, "_" and "-"'),
    annotation("retry.attempts", "101", "a whole number from 0 to 100"),
    annotation("retry.attempts", "-1", "a whole number from 0 to 100"),
    annotation("retry.codes", "5xx", "statuses from 400 to 599"),
    annotation("retry.codes", "500,", "statuses from 400 to 599"),
    annotation("retry.min_wait", "-1s", "a duration from 0s to 8784h"),
    annotation("retry.max_wait", "1d", "a duration from 0s to 8784h"),
    [
      "spec.annotations",
      "com.service.retry.min_wait: expected at most com.service.retry.max_wait",
      { image, annotations: { "com.service.retry.min_wait": "2s", "com.openfaas.retry.max_wait": "1" } },
    ],
    annotation("auth", "maybe", '"required" or "none"'),
    annotation("concurrency.max", "100001", "a whole number from 0 to 100000"),
    annotation("result.ttl", "25h", "a duration from 0s to 24h"),
    annotation("history.bodies", "169h", "a duration from 0s to 168h"),
    annotation("timeout", "99ms", "a duration from 100ms to 24h"),
    annotation("timeout", "soon", "a duration from 100ms to 24h"),
    annotation("protocol", "h3", '"http1" or "h2c"'),
    annotation("profile", "a,,b", "names separated by commas"),
    annotation("profile", "A", "names separated by commas"),
    annotation("serviceaccount", "a/b", "the name of a service account"),
    ...probes("health"),
    ...probes("ready"),
    ["spec.secrets[1]", "Duplicate value", { image, secrets: ["a", "a"] }],
    ["spec.secrets[0]", "should match", { image, secrets: ["../x"] }],
    ["spec.secrets", "at most 64 items", { image, secrets: Object.keys(numbered(65)) }],
    ["spec.constraints[0]", "should match", { image, constraints: ["zone"] }],
    [
      "spec.constraints",
      "at most 32 items",
      { image, constraints: Object.keys(numbered(33)).map((key) => `${key}=v`) },
    ],
    ["spec.limits.memory", "should match", { image, limits: { memory: "lots" } }],
    ["spec.limits.cpu", "must be of type string", { image, limits: { cpu: 1 } }],
    ["spec.limits.cpu", "should match", { image, limits: { cpu: "-1" } }],
    ["spec.limits", "expected keys that are memory, cpu or a device", { image, limits: { disk: "1" } }],
    ["spec.limits", "expected a whole number of devices", { image, limits: { "nvidia.com/gpu": "500m" } }],
    ["spec.limits", "expected quantities below 2^63", { image, limits: { memory: "10E" } }],
    [
      "spec.requests",
      "expected no request above its limit",
      { image, limits: { cpu: "0.5" }, requests: { cpu: "501m" } },
    ],
    ["spec.readOnlyRootFilesystem", "must be of type boolean", { image, readOnlyRootFilesystem: "yes" }],
    ["spec.replicas", "greater than or equal to 0", { image, replicas: -1 }],
    ["spec.replicas", "must be of type integer", { image, replicas: 1.5 }],
    ["spec.replicas", "expected at most the label com.service.scale.max", { image, replicas: 21 }],
  ]),
  ...rows("profile", "bad", [
    ["spec.dnsPolicy", "Unsupported value", { dnsPolicy: "Mine" }],
    ["spec.dnsPolicy", "expected dnsConfig.nameservers with the policy None", { dnsPolicy: "None" }],
    ["spec.strategy", "expected no rollingUpdate with", { strategy: { type: "Recreate", rollingUpdate: {} } }],
    ["spec.strategy.rollingUpdate.maxSurge", "should match", { strategy: { rollingUpdate: { maxSurge: "a" } } }],
    [
      "spec.strategy.rollingUpdate.maxSurge",
      "greater than or equal to 0",
      { strategy: { rollingUpdate: { maxSurge: -1 } } },
    ],
    ["spec.tolerations[0].effect", "Unsupported value", { tolerations: [{ effect: "Never" }] }],
    ["spec.podSecurityContext.runAsUser", "greater than or equal to 0", { podSecurityContext: { runAsUser: -1 } }],
    [
      "spec.resources.requests",
      "expected no request above its limit",
      { resources: { limits: { cpu: "1" }, requests: { cpu: "2" } } },
    ],
    [
      "spec.topologySpreadConstraints[0].maxSkew",
      "Required value",
      { topologySpreadConstraints: [{ topologyKey: "a", whenUnsatisfiable: "DoNotSchedule" }] },
    ],
    ["spec.runtimeClassName", "should match", { runtimeClassName: "A B" }],
  ]),
  ...rows("secret", "bad", [
    ["spec.secretRef", "Required value", {}],
    ["spec.secretRef.name", "should match", { secretRef: { name: "a/b" } }],
    ["spec.keys[0]", "should match", { secretRef: { name: "a" }, keys: [".."] }],
    ["spec.keys[1]", "Duplicate value", { secretRef: { name: "a" }, keys: ["a", "a"] }],
    ['"spec.value"', "unknown field", { secretRef: { name: "a" }, value: "s3cret" }],
  ]),
  ...rows("secret", `${"a".repeat(64)}.b`, [["metadata.name", "should match", { secretRef: { name: "a" } }]]),
  ...rows("jwtIssuer", "bad", [
    ["spec.iss", "Required value", { aud: ["weir"] }],
    ["spec.iss", "should match", { iss: "issuer", aud: ["weir"] }],
    ["spec.aud", "Required value", { iss: "https://issuer.example.com" }],
    ["spec.aud", "at least 1 items", { ...issuer, aud: [] }],
    ["spec.aud[1]", "Duplicate value", { ...issuer, aud: ["a", "a"] }],
    ["spec.issInternal", "should match", { ...issuer, issInternal: "ftp://x" }],
    ["spec.tokenExpiry", "expected a duration of at least 1s", { ...issuer, tokenExpiry: "0" }],
  ]),
  ...rows("policy", "bad", [
    ["spec.statement", "Required value", {}],
    ["spec.statement", "at least 1 items", { statement: [] }],
    ["spec.statement[0].effect", "Unsupported value", { statement: [{ ...statement, effect: "Deny" }] }],
    ["spec.statement[0].action[0]", "Unsupported value", { statement: [{ ...statement, action: ["Function:Lst"] }] }],
    ["spec.statement[0].resource[0]", "should match", { statement: [{ ...statement, resource: ["dev"] }] }],
    ["spec.statement[0].sid", "Required value", { statement: [{ ...statement, sid: undefined }] }],
    ['"spec.statement[0].conditions"', "unknown field", { statement: [{ ...statement, conditions: {} }] }],
    [
      "spec.statement[0].condition.StringEqual",
      "must be of type object",
      { statement: [{ ...statement, condition: { StringEqual: "a" } }] },
    ],
  ]),
  ...rows("role", "bad", [
    ["spec.policy", "Required value", {}],
    ["spec.policy", "at least 1 items", { policy: [] }],
    ["spec.policy[0]", "should match", { policy: ["A"] }],
    ["spec.principal", "expected keys that are jwt: and a claim", { policy: ["a"], principal: { sub: ["a"] } }],
    ["spec.principal.jwt:sub", "must be of type array", { policy: ["a"], principal: { "jwt:sub": "a" } }],
  ]),
];
