import { describe, expect, test } from "vitest";

import { functionDeployment } from "../../../../../runtime/adapters/kubernetes/manifests/function-deployment.ts";
import { functionService } from "../../../../../runtime/adapters/kubernetes/manifests/function-service.ts";
import type { Container } from "../../../../../runtime/adapters/kubernetes/manifests/object-types.ts";
import type { FunctionContext } from "../../../../../runtime/adapters/kubernetes/manifests/pods/pod-template.ts";
import type { DesiredFunction } from "../../../../../runtime/core/functions/desired-function.ts";
import { changed, context, desired, full, fullContext, plain } from "../function-samples.ts";

type Row = readonly [property: string, value: unknown, expected: unknown];

const owner = (name: string) => ({
  apiVersion: "service.com/v1",
  kind: "Function",
  name,
  uid: "6f2c1a9e-0c35-4a7e-9a8e-0d8d3e1c2b4a",
  controller: true,
  blockOwnerDeletion: true,
});
const labels = (name: string) => ({
  faas_function: name,
  "app.kubernetes.io/name": name,
  "app.kubernetes.io/managed-by": "weir",
});
const spread = (name: string, topologyKey: string, how: object = {}) => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: "ScheduleAnyway",
  labelSelector: { matchLabels: { faas_function: name } },
  ...how,
});
const probe = (how: object) => ({
  periodSeconds: 1,
  timeoutSeconds: 1,
  failureThreshold: 3,
  ...how,
});
const variables = ({ env }: Container) => Object.fromEntries(env.map(({ name, value }) => [name, value]));
const fields = (value: object) => Object.keys(value).toSorted();

function made(wanted: DesiredFunction, around: FunctionContext) {
  const deployment = functionDeployment(wanted, around);
  const { template } = deployment.spec;
  const [container] = template.spec.containers;
  if (container === undefined) throw new Error("a pod of a function has a container");
  return { deployment, template, pod: template.spec, container, service: functionService(wanted, around) };
}

describe("of a function with only an image", () => {
  const { deployment, template, pod, container } = made(plain, context);

  test.each<Row>([
    ["labels", deployment.metadata.labels, labels("hello")],
    ["owner", deployment.metadata.ownerReferences, [owner("hello")]],
    ["replicas", deployment.spec.replicas, 1],
    ["old versions kept", deployment.spec.revisionHistoryLimit, 1],
    ["selector", deployment.spec.selector, { matchLabels: { faas_function: "hello" } }],
    [
      "strategy: a new replica is ready before an old one goes",
      deployment.spec.strategy,
      { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    ],
  ])("Deployment: %s", (_property, value, expected) => {
    expect(value).toEqual(expected);
  });

  test.each<Row>([
    ["labels", template.metadata.labels, labels("hello")],
    [
      "fields, and no other: host network, host processes, other volumes",
      fields(pod),
      [
        "automountServiceAccountToken",
        "containers",
        "enableServiceLinks",
        "securityContext",
        "terminationGracePeriodSeconds",
        "topologySpreadConstraints",
        "volumes",
      ],
    ],
    ["no token", pod.automountServiceAccountToken, false],
    ["no variables of other Services", pod.enableServiceLinks, false],
    ["grace: the longest call and the time to end it", pod.terminationGracePeriodSeconds, 33],
    [
      "security context",
      pod.securityContext,
      {
        runAsUser: 12_000,
        runAsGroup: 12_000,
        runAsNonRoot: true,
        fsGroup: 12_000,
        seccompProfile: { type: "RuntimeDefault" },
      },
    ],
    [
      "spread over nodes and zones",
      pod.topologySpreadConstraints,
      [spread("hello", "kubernetes.io/hostname"), spread("hello", "topology.kubernetes.io/zone")],
    ],
    ["volumes", pod.volumes, [{ name: "tmp", emptyDir: {} }]],
  ])("pod: %s", (_property, value, expected) => {
    expect(value).toEqual(expected);
  });

  test.each<Row>([
    [
      "fields, and no other",
      fields(container),
      [
        "env",
        "image",
        "imagePullPolicy",
        "lifecycle",
        "name",
        "ports",
        "readinessProbe",
        "securityContext",
        "terminationMessagePolicy",
        "volumeMounts",
      ],
    ],
    ["name", container.name, "hello"],
    ["image", container.image, "ghcr.io/acme/hello:1"],
    [
      "environment",
      variables(container),
      {
        GATEWAY_URL: "http://gateway.weir.svc.cluster.local.:8080",
        OPENFAAS_NAME: "hello",
        OPENFAAS_NAMESPACE: "functions",
        PORT: "8080",
        SERVICE_NAME: "hello",
        SERVICE_NAMESPACE: "functions",
        SERVICE_SECRETS_DIR: "/var/service/secrets",
        write_timeout: "31s",
      },
    ],
    ["port", container.ports, [{ name: "http", containerPort: 8080, protocol: "TCP" }]],
    ["readiness: a connection", container.readinessProbe, probe({ tcpSocket: { port: 8080 } })],
    ["still serves while gateways learn that it ends", container.lifecycle, { preStop: { sleep: { seconds: 2 } } }],
    ["its last lines are in its status when it failed", container.terminationMessagePolicy, "FallbackToLogsOnError"],
    [
      "security context",
      container.securityContext,
      { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: false },
    ],
    ["mounts", container.volumeMounts, [{ name: "tmp", mountPath: "/tmp" }]],
  ])("container: %s", (_property, value, expected) => {
    expect(value).toEqual(expected);
  });
});

describe("of a function with every field", () => {
  const { deployment, pod, container } = made(full, fullContext);
  const is = (key: string, value: string) => ({ key, operator: "In", values: [value] });

  test.each<Row>([
    [
      "strategy of a Profile",
      deployment.spec.strategy,
      { type: "RollingUpdate", rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } },
    ],
    ["service account", [pod.serviceAccountName, pod.automountServiceAccountToken], ["bucket-reader", false]],
    ["grace: exec_timeout and the time to end a call", pod.terminationGracePeriodSeconds, 24],
    [
      "security context: a Profile's over ours",
      pod.securityContext,
      {
        runAsUser: 15_000,
        runAsGroup: 12_000,
        runAsNonRoot: true,
        fsGroup: 15_000,
        seccompProfile: { type: "RuntimeDefault" },
      },
    ],
    ["credentials of registries", pod.imagePullSecrets, [{ name: "registry" }]],
    [
      "nodes: those of a Profile and of its constraints",
      pod.affinity,
      {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: "gpu", operator: "Exists" },
                  is("zone", "a"),
                  is("kubernetes.io/arch", "amd64"),
                ],
              },
            ],
          },
        },
      },
    ],
    [
      "tolerations of all Profiles",
      pod.tolerations,
      [
        { key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" },
        { key: "batch", operator: "Exists" },
      ],
    ],
    [
      "spread: a Profile's over nodes, ours over zones",
      pod.topologySpreadConstraints,
      [
        spread("resize", "kubernetes.io/hostname", { maxSkew: 2, whenUnsatisfiable: "DoNotSchedule" }),
        spread("resize", "topology.kubernetes.io/zone"),
      ],
    ],
    ["runtime class", pod.runtimeClassName, "nvidia"],
    ["priority class", pod.priorityClassName, "batch"],
    ["DNS", [pod.dnsPolicy, pod.dnsConfig], ["ClusterFirst", { options: [{ name: "ndots", value: "2" }] }]],
    [
      "volumes: secrets, readable by the group, without those of registries, and the token",
      pod.volumes,
      [
        { name: "tmp", emptyDir: {} },
        {
          name: "secrets",
          projected: {
            defaultMode: 0o440,
            sources: [{ secret: { name: "api-key" } }, { secret: { name: "db" } }],
          },
        },
        {
          name: "identity",
          projected: {
            defaultMode: 0o440,
            sources: [
              {
                serviceAccountToken: {
                  path: "token",
                  audience: "https://weir.example.com/oauth/token",
                  expirationSeconds: 3_600,
                },
              },
            ],
          },
        },
      ],
    ],
  ])("pods: %s", (_property, value, expected) => {
    expect(value).toEqual(expected);
  });

  test.each<Row>([
    ["image", container.image, full.deployment.image],
    [
      "its own variables, escaped so that Kubernetes replaces nothing",
      variables(container),
      expect.objectContaining({
        fprocess: "node /app/index.js",
        PRICE: "$$(HOME) costs $$$$5",
        exec_timeout: "20s",
        write_timeout: "22s",
      }),
    ],
    [
      "resources",
      container.resources,
      {
        limits: { memory: "256Mi", cpu: "500m", "nvidia.com/gpu": "1" },
        requests: { cpu: "250m", memory: "128Mi", "nvidia.com/gpu": "1" },
      },
    ],
    [
      "readiness",
      container.readinessProbe,
      probe({ httpGet: { path: "/_/ready", port: 8080 }, initialDelaySeconds: 1 }),
    ],
    [
      "liveness",
      container.livenessProbe,
      probe({ httpGet: { path: "/alive", port: 8080 }, periodSeconds: 10, failureThreshold: 5 }),
    ],
    [
      "security context",
      container.securityContext,
      { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true },
    ],
    [
      "mounts: secrets in both directories, and the token, read-only",
      container.volumeMounts,
      [
        { name: "tmp", mountPath: "/tmp" },
        { name: "secrets", mountPath: "/var/service/secrets", readOnly: true },
        { name: "secrets", mountPath: "/var/openfaas/secrets", readOnly: true },
        { name: "identity", mountPath: "/var/service/identity", readOnly: true },
      ],
    ],
  ])("container: %s", (_property, value, expected) => {
    expect(value).toEqual(expected);
  });
});

describe("the Service of a function", () => {
  const { service } = made(plain, context);
  const port = { name: "http", port: 8080, targetPort: 8080, protocol: "TCP" };

  test.each<Row>([
    ["labels, which its EndpointSlices copy", service.metadata.labels, labels("hello")],
    ["owner", service.metadata.ownerReferences, [owner("hello")]],
    [
      "selector, port and protocol",
      service.spec,
      {
        selector: { faas_function: "hello" },
        ports: [{ ...port, appProtocol: "http" }],
      },
    ],
  ])("%s", (_property, value, expected) => {
    expect(value).toEqual(expected);
  });

  test("names HTTP/2 for a function that speaks h2c", () => {
    const speaking = desired({ service: "h", image: "h:1", annotations: { "com.service.protocol": "h2c" } });
    expect(functionService(speaking, context).spec.ports).toEqual([{ ...port, appProtocol: "kubernetes.io/h2c" }]);
  });
});

test("a function whose name begins with a digit has objects of another name, labelled with its own", () => {
  const { deployment, pod, service } = made(desired({ service: "0ne", image: "one" }), context);

  for (const { metadata } of [deployment, service]) {
    expect(metadata).toMatchObject({ name: "fn-0ne", namespace: "functions", labels: { faas_function: "0ne" } });
  }
  expect(deployment.spec.selector.matchLabels).toEqual({ faas_function: "0ne" });
  expect(service.spec.selector).toEqual({ faas_function: "0ne" });
  expect(pod.containers[0]?.name).toBe("0ne");
});

/** `full` without a service account. */
const unidentified = changed(full, {
  annotations: Object.fromEntries(
    Object.entries(full.deployment.annotations ?? {}).filter(([key]) => key !== "com.service.serviceaccount"),
  ),
});

/** A new revision replaces the pods of every function when the operator is upgraded: the change log says so. */
test.each([
  ["nothing", plain, context, "e76f09275aea450d"],
  ["everything", full, fullContext, "14b5a462a07f2c9d"],
  ["everything, but not who they are", unidentified, fullContext, "22622e350cfda931"],
])("a new version of Weir does not roll functions that state %s", (_what, wanted, around, revision) => {
  expect(made(wanted, around).template.metadata.annotations).toEqual({ "service.com/revision": revision });
});
