import { describe, expect, test } from "vitest";

import { operatorNodeOptions } from "../../../../infra/manifests/operator-memory.ts";
import { checkPlatform, readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { environmentOf } from "../../../../infra/manifests/processes/environment.ts";
import type { Settings } from "../../../../runtime/settings/setting.ts";
import { readSettings } from "../../../../runtime/settings/read-settings.ts";
import { autoscalerSettings } from "../../../../runtime/autoscaler/settings.ts";
import { gatewaySettings } from "../../../../runtime/gateway/settings.ts";
import { historySettings } from "../../../../runtime/history/settings.ts";
import { operatorSettings } from "../../../../runtime/operator/settings.ts";
import { queueDoctorSettings } from "../../../../runtime/queue-doctor/settings.ts";
import { queueWorkerSettings } from "../../../../runtime/queue-worker/settings.ts";
import { objectNamed, objectsOf, podsOf, variablesOf } from "../../../support/manifest-platform.ts";

const processes: readonly (readonly [deployment: string, process: string, table: Settings])[] = [
  ["gateway", "gateway", gatewaySettings],
  ["queue-worker", "queue-worker", queueWorkerSettings],
  ["queue-worker-reports", "queue-worker", queueWorkerSettings],
  ["queue-doctor", "queue-doctor", queueDoctorSettings],
  ["autoscaler", "autoscaler", autoscalerSettings],
  ["operator", "operator", operatorSettings],
  ["history", "history", historySettings],
];
const platform = readPlatform({
  edition: "enterprise",
  platformNamespace: "faas",
  upstreamTimeout: "2m",
  shutdownDelay: "7s",
  queues: { reports: { timeout: "10m", max_inflight: 8, replicas: 3 } },
  autoscaler: { replicas: 2 },
});
const objects = objectsOf(platform);

describe.each(processes)("%s", (name, process, table) => {
  const deployment = objectNamed(objects, "Deployment", name);
  const pods = podsOf(deployment);
  const [container] = pods.containers;

  test("its variables are valid settings of its process", () => {
    const environment = variablesOf(deployment);
    const names = Object.values(table).map((setting) => setting.name);
    const others = Object.keys(environment).filter((variable) => !names.includes(variable));
    expect(others).toEqual(["operator", "history"].includes(process) ? ["NODE_OPTIONS"] : []);
    const inPod = { ...environment, kubernetes_host: "10.0.0.1", kubernetes_port: "443" };
    expect(readSettings(table, { environment: inPod })).toMatchObject({
      adminHost: "0.0.0.0",
      edition: "enterprise",
      platformNamespace: "faas",
      // What the history has of Kubernetes it reads for logs alone, and it sends nobody to the gateway.
      ...(process === "history"
        ? { logProvider: "kubernetes", kubernetesHost: "10.0.0.1" }
        : { provider: "kubernetes", clusterGatewayUrl: "http://gateway.faas.svc.cluster.local.:8080" }),
    });
  });

  test("runs its own main.ts with its own account, probed on the admin port", () => {
    expect(container.args?.[0]).toBe(process);
    expect(pods.serviceAccountName).toBe(process);
    expect(container.ports).toContainEqual({ name: "admin", containerPort: 8082 });
    expect(container.livenessProbe.httpGet).toEqual({ path: "/livez", port: "admin" });
    // They answer without the broker, too.
    const path = ["gateway", "history"].includes(process) ? "/readyz?exclude=broker" : "/readyz";
    expect(container.readinessProbe.httpGet).toEqual({ path, port: "admin" });
  });

  test("meets the pod security level restricted, with nothing writable but /tmp and its disk", () => {
    expect(pods.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    });
    const writable = container.volumeMounts.filter(({ readOnly }) => readOnly !== true);
    expect(writable.map(({ mountPath }) => mountPath)).toEqual(["/tmp", ...(process === "history" ? ["/data"] : [])]);
  });

  test("has secrets as files only", () => {
    expect(JSON.stringify(container.env)).not.toMatch(/secretKeyRef|password=/);
  });
});

describe("derived values", () => {
  test("a pod gets longer to stop than its process takes", () => {
    const grace = (name: string) => podsOf(objectNamed(objects, "Deployment", name)).terminationGracePeriodSeconds;
    expect(grace("gateway")).toBe(7 + 120 + 5 + 5);
    expect(grace("queue-worker")).toBe(120 + 10 + 5);
    // Runs that take longer are handed back.
    expect(grace("queue-worker-reports")).toBe(120 + 10 + 5);
    expect(grace("operator")).toBe(15);
  });

  test("the operator, which has no broker, gets the queues and the timeouts of their calls", () => {
    const declared = variablesOf(objectNamed(objects, "Deployment", "operator"))["declared_queues"];
    expect(declared).toBe("default=2m,reports=10m");
  });

  const deploymentOf = (input: Readonly<Record<string, unknown>>, name: string) =>
    objectNamed(objectsOf(readPlatform(input)), "Deployment", name);
  const memoryOf = (input: Readonly<Record<string, unknown>>, name: string) =>
    Number.parseInt(podsOf(deploymentOf(input, name)).containers[0].resources.limits["memory"] ?? "", 10);
  const pro = { edition: "pro" };

  test("memory grows with payload and slots, unless it is given", () => {
    const small = memoryOf(pro, "queue-worker");
    expect(memoryOf({ ...pro, maxInflight: 100 }, "queue-worker") - small).toBeGreaterThan(200);
    expect(memoryOf({ ...pro, asyncMaxBody: 16_777_216 }, "queue-worker") - small).toBeGreaterThan(400);
    expect(memoryOf({ ...pro, memory: { queueWorker: "99Mi" } }, "queue-worker")).toBe(99);
  });

  test("memory of the operator grows with the expected functions and namespaces, and limits Node.js", () => {
    const expecting = (functions: number, namespaces: number, edition = "pro") =>
      memoryOf({ edition, operator: { functions, namespaces } }, "operator");
    expect(expecting(10_000, 1_000)).toBe(memoryOf(pro, "operator"));
    expect(expecting(10_000, 1_000) * 2 ** 20).toBeLessThanOrEqual(250e6);
    expect(expecting(20_000, 1_000)).toBeGreaterThan(expecting(10_000, 1_000));
    expect(expecting(10_000, 2_000)).toBeGreaterThan(expecting(10_000, 1_000));
    expect(expecting(1_000, 5, "standard")).toBe(expecting(1_000, 1));
    const optionsOf = (input: object) => variablesOf(deploymentOf({ ...pro, ...input }, "operator"))["NODE_OPTIONS"];
    const limit = { memory: { operator: "1Gi" } };
    expect(memoryOf({ ...pro, ...limit }, "operator")).toBe(1);
    expect(optionsOf(limit)).toBe(operatorNodeOptions(2 ** 30).join(" "));
    const oldSpace = (input: object) => Number(/--max-old-space-size=(\d+)/.exec(optionsOf(input) ?? "")?.[1]);
    expect(oldSpace({})).toBeLessThan(memoryOf(pro, "operator") - 50);
    expect(oldSpace(limit)).toBeGreaterThan(800);
    expect(oldSpace({ memory: { operator: "96Mi" } })).toBe(48);
  });

  test("replicas of a queue's workers come from its entry; several pods have a disruption budget", () => {
    expect(objectNamed(objects, "Deployment", "queue-worker-reports")["spec"]).toMatchObject({ replicas: 3 });
    const budgets = objects.filter(({ kind }) => kind === "PodDisruptionBudget").map(({ metadata }) => metadata.name);
    expect(budgets.toSorted()).toEqual(["autoscaler", "nats", "queue-worker-reports"]);
  });

  test("the queues are in the queue-doctor's settings file; its pods roll when they change", () => {
    const doctor = (input: Readonly<Record<string, unknown>>) => {
      const of = objectsOf(readPlatform({ edition: "enterprise", ...input }));
      return JSON.stringify(objectNamed(of, "Deployment", "queue-doctor"));
    };
    expect(doctor({ queues: { a: {} } })).not.toBe(doctor({ queues: { b: {} } }));
    expect(doctor({ queues: { a: {} } })).toBe(doctor({ queues: { a: {} } }));
  });
});

test("a value that Kubernetes would expand stays as it is", () => {
  const table = { callbackAllow: { ...queueWorkerSettings.callbackAllow } };
  const tuning = { callbackAllow: "$(HOSTS).internal,$$(X)" };
  expect(environmentOf(table, {}, tuning)).toEqual([{ name: "callback_allow", value: "$$(HOSTS).internal,$$$$(X)" }]);
});

test.each(["gateway", "operator", "autoscaler", "queue-doctor"])(
  "a second pod of %s does not replace the first: the template stays as it is",
  (name) => {
    const templateOf = (replicas: number) => {
      const group = name === "queue-doctor" ? "queueDoctor" : name;
      const { spec } = objectNamed(objectsOf(readPlatform({ [group]: { replicas } })), "Deployment", name);
      return (spec as { readonly template: unknown }).template;
    };
    expect(templateOf(2)).toEqual(templateOf(1));
  },
);

test("all pods, also the broker's, are placed and labelled as the stack says", () => {
  const toleration = { key: "dedicated", operator: "Equal", value: "weir", effect: "NoSchedule" };
  const placed = objectsOf(
    readPlatform({
      pods: {
        priorityClass: "system-cluster-critical",
        nodeSelector: { pool: "platform" },
        tolerations: [toleration],
        annotations: { "sidecar.istio.io/inject": "false", "weir/checksum": "mine" },
      },
    }),
  ).filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
  expect(placed.length).toBe(7);
  for (const { spec } of placed) {
    const { template } = spec as {
      readonly template: {
        readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
        readonly spec: object;
      };
    };
    expect(template.spec).toMatchObject({
      priorityClassName: "system-cluster-critical",
      nodeSelector: { pool: "platform" },
      tolerations: [toleration],
    });
    expect(template.metadata.annotations).toMatchObject({ "sidecar.istio.io/inject": "false" });
  }
  const broker = placed.find(({ kind }) => kind === "StatefulSet")?.["spec"];
  expect(broker).not.toMatchObject({ template: { metadata: { annotations: { "weir/checksum": "mine" } } } });
});

test("an invalid toleration is refused", () => {
  for (const tolerations of ["spot", [{ kye: "spot" }], [{ effect: "Never" }], [[]]])
    expect(checkPlatform({ pods: { tolerations } }).problems).toEqual([
      "pods.tolerations: expected a list of tolerations: key, operator, value, effect and tolerationSeconds as a pod may have them together",
    ]);
});

describe("pods that an autoscaler counts", () => {
  const ranged = readPlatform({
    edition: "enterprise",
    gateway: { replicas: { min: 2, max: 8 } },
    queues: { reports: { replicas: { min: 1, max: 5, cpu: 50 } }, bills: { replicas: { min: 1, max: 3, cpu: 0 } } },
  });
  const made = objectsOf(ranged);

  test("the count is in no Deployment, so that nobody who applies it sets it back", () => {
    for (const name of ["gateway", "queue-worker-reports", "queue-worker-bills"])
      expect(objectNamed(made, "Deployment", name)["spec"], name).not.toHaveProperty("replicas");
    expect(objectNamed(made, "Deployment", "queue-worker")["spec"]).toMatchObject({ replicas: 1 });
  });

  test("each has an autoscaler, unless another one counts them, and a disruption budget", () => {
    const named = (kind: string) => made.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);
    expect(named("HorizontalPodAutoscaler")).toEqual(["gateway", "queue-worker-reports"]);
    expect(named("PodDisruptionBudget")).toEqual(
      expect.arrayContaining(["gateway", "queue-worker-reports", "queue-worker-bills"]),
    );
    expect(objectNamed(made, "HorizontalPodAutoscaler", "queue-worker-reports")).toMatchObject({
      metadata: { namespace: ranged.platformNamespace },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "queue-worker-reports" },
        minReplicas: 1,
        maxReplicas: 5,
        metrics: [{ resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }],
      },
    });
  });

  test("the queue-doctor admits in flight what the most workers run", () => {
    expect(ranged.queues.find(({ name }) => name === "reports")).toMatchObject({ replicas: 5 });
    const { data } = objectNamed(made, "ConfigMap", "queue-doctor") as { readonly data?: Record<string, string> };
    expect(JSON.parse(data?.["weir.yaml"] ?? "")).toMatchObject({ queues: { reports: { replicas: 5 } } });
  });

  test.each([
    [{ gateway: { replicas: { min: 3, max: 2 } } }, /^gateway\.replicas: expected a whole number, 1 to 100, or min/],
    [{ gateway: { replicas: { min: 1, max: 2, cup: 3 } } }, /^gateway\.replicas: expected/],
    [{ queues: { reports: { replicas: { min: 0, max: 2 } } } }, /^queues\.reports\.replicas: expected min and max/],
  ])("a range that is none is named: %j", (options, problem) => {
    const { problems } = checkPlatform({ edition: "enterprise", ...options });
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });
});
