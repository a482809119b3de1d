import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { podAffinity } from "../../../../../../runtime/adapters/kubernetes/manifests/pods/pod-affinity.ts";
import { podEnvironment } from "../../../../../../runtime/adapters/kubernetes/manifests/pods/pod-environment.ts";
import { podGrace } from "../../../../../../runtime/adapters/kubernetes/manifests/pods/pod-grace.ts";
import { podProbes } from "../../../../../../runtime/adapters/kubernetes/manifests/pods/pod-probes.ts";
import { podResources } from "../../../../../../runtime/adapters/kubernetes/manifests/pods/pod-resources.ts";
import { podSecrets } from "../../../../../../runtime/adapters/kubernetes/manifests/pods/pod-secrets.ts";
import { podTemplate } from "../../../../../../runtime/adapters/kubernetes/manifests/pods/pod-template.ts";
import { changed, context, plain } from "../../function-samples.ts";

const surroundings = { gatewayUrl: "g", tokenAudience: undefined, grace: 1_000 };

describe("podEnvironment", () => {
  /** As the kubelet reads a value: `$$` is `$`, `$(NAME)` the value of a variable that is defined. */
  const asRead = (value: string, known: Readonly<Record<string, string>>): string =>
    value.replace(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) =>
      whole === "$$" ? "$" : (known[name ?? ""] ?? whole),
    );

  test("the function sees its values as deployed, whatever Kubernetes would replace in them", () => {
    const value = fc.string({ unit: fc.constantFrom("$", "(", ")", "A", "B", "\n"), maxLength: 12 });
    fc.assert(
      fc.property(value, value, (a, b) => {
        const env = podEnvironment(changed(plain, { envVars: { A: a, B: b } }), surroundings);
        const read: Record<string, string> = {};
        for (const { name, value: written } of env) read[name] = asRead(written, read);
        expect(read).toMatchObject({ A: a, B: b });
      }),
    );
  });

  test("the function's own values win", () => {
    const env = podEnvironment(changed(plain, { envVars: { GATEWAY_URL: "mine", write_timeout: "9s" } }), surroundings);

    expect(env).toContainEqual({ name: "GATEWAY_URL", value: "mine" });
    expect(env).toContainEqual({ name: "write_timeout", value: "9s" });
  });
});

test.each<[envVars: Readonly<Record<string, string>>, seconds: number]>([
  [{}, 33],
  [{ exec_timeout: "10s" }, 14],
  [{ exec_timeout: "10s", write_timeout: "20s" }, 23],
  [{ write_timeout: "5s" }, 33],
  [{ write_timeout: "10m" }, 33],
  [{ exec_timeout: "500ms" }, 5],
  [{ exec_timeout: "soon", write_timeout: "later" }, 33],
])("a pod with %o has a grace of %d s when no call takes longer than 30 s", (envVars, seconds) => {
  expect(podGrace({ envVars }, 30_000).podSeconds).toBe(seconds);
});

test.each<[timeout: string, envVars: Readonly<Record<string, string>>, seconds: number]>([
  ["90s", {}, 93],
  ["90s", { write_timeout: "10m" }, 93],
  ["90s", { exec_timeout: "60s" }, 64],
  ["10s", {}, 33],
])("a pod whose function has a timeout of %s and %o has a grace of %d s", (timeout, envVars, seconds) => {
  expect(podGrace({ annotations: { "com.service.timeout": timeout }, envVars }, 30_000).podSeconds).toBe(seconds);
});

describe("podProbes", () => {
  const connection = { tcpSocket: { port: 8080 } };
  const get = (path: string) => ({ httpGet: { path, port: 8080 } });
  const probe = (period: number, how: object) => ({
    initialDelaySeconds: 0,
    periodSeconds: period,
    timeoutSeconds: 1,
    failureThreshold: 3,
    ...how,
  });
  const ready = (how: object) => probe(1, how);
  const health = (how: object) => probe(10, how);

  test.each<[annotations: Readonly<Record<string, string>>, readinessProbe: object, livenessProbe?: object]>([
    [{}, ready(connection)],
    [{ "com.service.ready.http.path": "/r" }, ready(get("/r"))],
    [{ "com.openfaas.ready.http.path": "/r" }, ready(get("/r"))],
    [{ "com.service.ready.http.periodSeconds": "7" }, ready({ ...get("/_/ready"), periodSeconds: 7 })],
    [{ "com.service.health.http.path": "/h" }, ready(connection), health(get("/h"))],
    [
      { "com.service.health.http.timeoutSeconds": "4" },
      ready(connection),
      health({ ...get("/_/health"), timeoutSeconds: 4 }),
    ],
    [
      { "com.service.protocol": "h2c", "com.service.health.http.failureThreshold": "9" },
      ready(connection),
      health({ ...connection, failureThreshold: 9 }),
    ],
    [{ "com.service.protocol": "h2c", "com.service.ready.http.path": "/r" }, ready(get("/r"))],
  ])("probes of a function with %j", (annotations, readinessProbe, livenessProbe) => {
    expect(podProbes(annotations)).toEqual({
      readinessProbe,
      ...(livenessProbe === undefined ? {} : { livenessProbe }),
    });
  });
});

describe("podAffinity", () => {
  const required = (...terms: readonly object[]) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  });
  const is = (key: string, value: string) => ({ key, operator: "In", values: [value] });

  test.each<[constraints: string[], profile: object | undefined, expected: object | undefined]>([
    [[], undefined, undefined],
    [[], required({ matchExpressions: [is("a", "1")] }), required({ matchExpressions: [is("a", "1")] })],
    [["zone=a", "arch == arm64"], undefined, required({ matchExpressions: [is("zone", "a"), is("arch", "arm64")] })],
    [
      ["zone=a"],
      required({ matchExpressions: [is("zone", "b"), is("gpu", "1")] }, { matchFields: [] }),
      required(
        { matchExpressions: [is("gpu", "1"), is("zone", "a")] },
        { matchFields: [], matchExpressions: [is("zone", "a")] },
      ),
    ],
    [["zone=a"], { podAffinity: {} }, { podAffinity: {}, ...required({ matchExpressions: [is("zone", "a")] }) }],
  ])("%j and %j", (constraints, profile, expected) => {
    expect(podAffinity(constraints, profile)).toEqual(expected);
  });

  test.each(["zone", "zone!=a", "a b=c", "zone=-", "=a"])("%s is refused", (constraint) => {
    expect(() => podAffinity([constraint], undefined)).toThrow("Cannot place pods by constraint");
  });
});

test.each<[own: object, profile: object | undefined, expected: object | undefined]>([
  [{}, undefined, undefined],
  [{ limits: { cpu: "1" } }, undefined, { limits: { cpu: "1" } }],
  [{}, { limits: { cpu: "1" } }, { limits: { cpu: "1" } }],
  [{ limits: { cpu: "2" } }, { limits: { cpu: "1", memory: "1Gi" } }, { limits: { cpu: "2", memory: "1Gi" } }],
  [{ limits: { cpu: "1" } }, { requests: { cpu: "2" } }, { limits: { cpu: "1" }, requests: { cpu: "1" } }],
  [{ requests: { cpu: "2" } }, { limits: { cpu: "1" } }, { limits: { cpu: "2" }, requests: { cpu: "2" } }],
  [{ requests: { memory: "1Gi" } }, undefined, { limits: { memory: "1Gi" }, requests: { memory: "1Gi" } }],
  [{ requests: { memory: "1Mi" } }, undefined, { requests: { memory: "1Mi" } }],
  [{ requests: { "a.b/gpu": "1" } }, undefined, { limits: { "a.b/gpu": "1" }, requests: { "a.b/gpu": "1" } }],
  [
    { limits: { "a.b/gpu": "2" }, requests: { "a.b/gpu": "1" } },
    undefined,
    { limits: { "a.b/gpu": "2" }, requests: { "a.b/gpu": "2" } },
  ],
])("resources of %j with a Profile of %j", (own, profile, expected) => {
  expect(podResources(own, profile, { memory: "512Mi" })).toEqual(expected);
});

test("credentials of registries go to the kubelet, not to the function", () => {
  expect(podSecrets(["registry"], new Set(["registry"]))).toEqual({
    volumes: [],
    volumeMounts: [],
    imagePullSecrets: [{ name: "registry" }],
  });
});

test.each([
  ["ghcr.io/acme/hello:1", "IfNotPresent"],
  ["ghcr.io/acme/hello", "Always"],
  ["ghcr.io/acme/hello:latest", "Always"],
  ["registry.example.com:5000/hello", "Always"],
  [`hello:latest@sha256:${"0".repeat(64)}`, "IfNotPresent"],
])("image %s is pulled %s", (image, policy) => {
  expect(podTemplate(changed(plain, { image }), context).spec.containers[0]?.imagePullPolicy).toBe(policy);
});

test.each<[what: string, profile: object, expected: object]>([
  ["nothing", {}, { runAsUser: 12_000, runAsGroup: 12_000, runAsNonRoot: true, fsGroup: 12_000 }],
  ["another user", { runAsUser: 5 }, { runAsUser: 5, runAsNonRoot: true, fsGroup: 12_000 }],
  ["root", { runAsUser: 0 }, { runAsUser: 0, runAsNonRoot: false }],
  ["a group of files", { fsGroup: 7 }, { runAsUser: 12_000, fsGroup: 7 }],
  ["a seccomp profile", { seccompProfile: { type: "Localhost" } }, { seccompProfile: { type: "Localhost" } }],
])("the user of pods when a Profile states %s", (_what, podSecurityContext, expected) => {
  const { spec } = podTemplate(plain, { ...context, profiles: [{ podSecurityContext }] });

  expect(spec.securityContext).toMatchObject({ seccompProfile: { type: "RuntimeDefault" }, ...expected });
});

test("only a function that names a service account gets a token, and none for the API server", () => {
  const named = changed(plain, { annotations: { "com.service.serviceaccount": "reader" } });

  expect(podTemplate(plain, context).spec).toMatchObject({ automountServiceAccountToken: false });
  expect(podTemplate(plain, context).spec.serviceAccountName).toBeUndefined();
  expect(podTemplate(plain, context).spec.volumes).toEqual([{ name: "tmp", emptyDir: {} }]);
  const { spec } = podTemplate(named, context);
  expect(spec).toMatchObject({ automountServiceAccountToken: false, serviceAccountName: "reader" });
  const audience = "https://weir.example.com/oauth/token";
  expect(spec.volumes.at(-1)).toEqual({
    name: "identity",
    projected: {
      defaultMode: 0o440,
      sources: [{ serviceAccountToken: { path: "token", audience, expirationSeconds: 3_600 } }],
    },
  });
  expect(spec.containers[0]?.volumeMounts.at(-1)).toEqual({
    name: "identity",
    mountPath: "/var/service/identity",
    readOnly: true,
  });
  const variable = { name: "SERVICE_TOKEN_FILE", value: "/var/service/identity/token" };
  expect(spec.containers[0]?.env).toContainEqual(variable);
  const names = (from: typeof spec) => from.containers[0]?.env.map(({ name }) => name);
  expect(names(podTemplate(plain, context).spec)).not.toContain("SERVICE_TOKEN_FILE");
});

test("without identity and access no function gets a token", () => {
  const named = changed(plain, { annotations: { "com.service.serviceaccount": "reader" } });
  const { spec } = podTemplate(named, { ...context, tokenAudience: undefined });
  expect(spec).toMatchObject({ automountServiceAccountToken: false, serviceAccountName: "reader" });
  expect(JSON.stringify(spec)).not.toMatch(/serviceAccountToken"|SERVICE_TOKEN_FILE/);
});
