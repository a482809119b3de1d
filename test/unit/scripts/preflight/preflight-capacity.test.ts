import { describe, expect, test } from "vitest";

import { platformManifests } from "../../../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { checkCapacity } from "../../../../scripts/preflight/check-capacity.ts";
import type { Node } from "../../../../scripts/preflight/check-nodes.ts";
import { listAll } from "../../../../scripts/preflight/cluster.ts";
import { lineOf } from "../../../../scripts/preflight/finding.ts";
import { mayRun } from "../../../../scripts/preflight/node-room.ts";
import { platformRequests } from "../../../../scripts/preflight/platform-requests.ts";
import { podRequests, roomText } from "../../../../scripts/preflight/pod-requests.ts";
import { clusterOf } from "../../../support/pretended-lists.ts";

const podsPath = "/api/v1/pods?fieldSelector=status.phase!%3DSucceeded%2Cstatus.phase!%3DFailed";
/** 850m CPU and 1.6Gi in six pods; the gateway is its largest Deployment. */
const platform = readPlatform({ edition: "community", nats: { tls: false }, history: false });
const objects = platformManifests(platform).flatMap((part) => part.objects);

function node(name: string, allocatable: Readonly<Record<string, string>>, more: Partial<Node> = {}): Node {
  return { metadata: { name }, status: { conditions: [{ type: "Ready", status: "True" }], allocatable }, ...more };
}
const pod = (nodeName: string, requests: Readonly<Record<string, string>>, metadata: object = {}) => ({
  metadata: { name: "other", namespace: "default", ...metadata },
  spec: { nodeName, containers: [{ resources: { requests } }] },
});

async function look(nodes: readonly Node[], pods: readonly object[] = [], more: Readonly<Record<string, object>> = {}) {
  const cluster = clusterOf({ [podsPath]: { items: pods }, ...more });
  return (await checkCapacity(cluster, nodes, platform, objects)).map(lineOf);
}

describe("the platform", () => {
  test("fits, in numbers, with one more pod of each part and with functions", async () => {
    expect(await look([node("a", { cpu: "2", memory: "4Gi", pods: "110" })])).toEqual([
      "ok      the platform asks for 850m CPU and 1.6Gi in 6 pods, 1 node has 2000m CPU and 4.0Gi left",
      "ok      room for functions: 1150m CPU and 2.4Gi; one that names nothing asks for 50m CPU and 64Mi",
    ]);
  });

  test("does not fit beside existing pods", async () => {
    const lines = await look([node("a", { cpu: "2", memory: "4Gi" })], [pod("a", { cpu: "1300m", memory: "1Gi" })]);
    expect(lines).toEqual([
      expect.stringMatching(
        /^PROBLEM the platform asks for 850m CPU and 1\.6Gi in 6 pods, 1 node has 700m CPU and 3\.0Gi left: no room for [12] of them, .*\(\d+m CPU and \d+Mi\)/,
      ),
    ]);
    expect(lines[0]).toMatch(/: add nodes, or ask for less with weir:cpu and weir:memory$/);
  });

  test("does not fit where no node has room for a whole pod", async () => {
    const nodes = Array.from({ length: 10 }, (_, index) => node(`n${index}`, { cpu: "200m", memory: "4Gi" }));
    expect(await look(nodes)).toEqual([
      expect.stringMatching(
        /^PROBLEM .*10 nodes have 2000m CPU and 40\.0Gi left: no room for 2 of them, nats .*gateway/,
      ),
    ]);
  });

  test("counts the pods that a node accepts", async () => {
    expect((await look([node("a", { cpu: "8", memory: "16Gi", pods: "5" })]))[0]).toMatch(/^PROBLEM .*no room for 1 /);
  });

  test("replaces its own existing pods, and no others", async () => {
    const own = { namespace: "weir", labels: { "app.kubernetes.io/part-of": "weir" } };
    const large = { cpu: "1500m", memory: "3Gi" };
    const nodes = [node("a", { cpu: "2", memory: "4Gi" })];
    expect((await look(nodes, [pod("a", large, own)]))[0]).toMatch(/^ok /);
    expect((await look(nodes, [pod("a", large, { ...own, namespace: "other" })]))[0]).toMatch(/^PROBLEM/);
  });

  test("leaves no room for an update, or for a function", async () => {
    const tight = await look([node("a", { cpu: "900m", memory: "4Gi" })]);
    expect(tight.map((line) => line.slice(0, 7).trim())).toEqual(["ok", "ok", "note"]);
    expect(tight[2]).toMatch(
      /^note {4}no room for a second .*gateway \(250m CPU and \d+Mi\), .*: an update starts a new pod/,
    );
    const full = await look([node("a", { cpu: "850m", memory: "4Gi" })]);
    expect(full[1]).toMatch(
      /^PROBLEM no room for a function of 50m CPU and 64Mi beside it: 0m CPU and 2\.4Gi are left: add/,
    );
  });

  test("waits for nodes where an autoscaler adds them", async () => {
    const status = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status";
    const small = [node("a", { cpu: "100m", memory: "1Gi" })];
    expect((await look(small, [], { [status]: {} }))[0]).toMatch(/^note .*: the cluster autoscaler has to add nodes$/);
    expect((await look([], [], { "/apis/karpenter.sh/v1": {} }))[0]).toMatch(/^note .*: Karpenter has to add nodes$/);
  });
});

describe("a node", () => {
  const taint = { key: "team", value: "a", effect: "NoSchedule" };
  const size = { cpu: "2", memory: "4Gi" };

  test.each<[string, Partial<Node>]>([
    ["is cordoned", { spec: { unschedulable: true } }],
    ["is not ready", { status: { conditions: [{ type: "Ready", status: "Unknown" }], allocatable: size } }],
    ["has a taint", { spec: { taints: [taint] } }],
  ])("that %s gives no room", async (_what, more) => {
    expect((await look([node("a", size, more)]))[0]).toMatch(/^PROBLEM .* 0 nodes have 0m CPU and 0Mi left/);
  });

  test("with a taint accepts pods that tolerate it", () => {
    const tainted = node("a", size, { spec: { taints: [taint] } });
    expect(mayRun({ tolerations: [{ key: "team", operator: "Equal", value: "a" }] }, tainted)).toBe(true);
    expect(mayRun({ tolerations: [{ key: "team", operator: "Exists", effect: "NoSchedule" }] }, tainted)).toBe(true);
    expect(mayRun({ tolerations: [{ operator: "Exists" }] }, tainted)).toBe(true);
    expect(mayRun({ tolerations: [{ key: "team", value: "b" }] }, tainted)).toBe(false);
    expect(mayRun({ tolerations: [{ key: "team", operator: "Exists", effect: "NoExecute" }] }, tainted)).toBe(false);
    const avoided = node("a", size, { spec: { taints: [{ ...taint, effect: "PreferNoSchedule" }] } });
    expect(mayRun({}, avoided)).toBe(true);
  });

  test("accepts pods that select its labels", () => {
    const labelled = { ...node("a", size), metadata: { name: "a", labels: { disk: "ssd" } } };
    expect(mayRun({ nodeSelector: { disk: "ssd" } }, labelled)).toBe(true);
    expect(mayRun({ nodeSelector: { disk: "ssd" } }, node("a", size))).toBe(false);
  });
});

describe("a pod requests", () => {
  const of = (cpu: string, memory: string) => ({ resources: { requests: { cpu, memory } } });

  test.each<[string, Parameters<typeof podRequests>[0], string]>([
    ["nothing", { containers: [{}] }, "0m CPU and 0Mi"],
    ["all its containers", { containers: [of("100m", "1Gi"), of("0.5", "512Mi")] }, "600m CPU and 1.5Gi"],
    [
      "its largest init container",
      { containers: [of("100m", "1Gi")], initContainers: [of("1", "64Mi"), of("10m", "2Gi")] },
      "1000m CPU and 2.0Gi",
    ],
    [
      "sidecars with containers and later init containers",
      {
        containers: [of("100m", "1Gi")],
        initContainers: [{ ...of("50m", "1Gi"), restartPolicy: "Always" }, of("200m", "64Mi")],
      },
      "250m CPU and 2.0Gi",
    ],
    [
      "the overhead of its runtime",
      { containers: [of("100m", "1Gi")], overhead: { cpu: "250m", memory: "1Gi" } },
      "350m CPU and 2.0Gi",
    ],
    [
      "the requests of the whole pod",
      { containers: [of("100m", "1Gi")], resources: { requests: { cpu: "2" } } },
      "2000m CPU and 1.0Gi",
    ],
  ])("%s", (_what, spec, text) => {
    expect(roomText(podRequests(spec))).toBe(text);
  });
});

test("lists are read page by page", async () => {
  const paths: string[] = [];
  const cluster = {
    ...clusterOf({}),
    get: async <T>(path: string) => {
      paths.push(path);
      return { items: [paths.length], metadata: { continue: ["a=b", ""][paths.length - 1] } } as T;
    },
  };
  expect(await listAll(cluster, "/api/v1/nodes")).toEqual([1, 2]);
  expect(paths).toEqual(["/api/v1/nodes?limit=50", "/api/v1/nodes?limit=50&continue=a%3Db"]);
});

test("disks and replicas are those of the objects", () => {
  const three = readPlatform({
    edition: "pro",
    nats: { tls: false, replicas: "3", storage: "20Gi" },
    gateway: { replicas: "2" },
  });
  const { pods, disks, surging } = platformRequests(platformManifests(three).flatMap((part) => part.objects));
  expect(disks).toEqual([20, 20, 20, 5].map((size) => size * 2 ** 30));
  expect(pods.filter(({ name }) => name === "gateway")).toHaveLength(2);
  // Neither the broker nor what has a disk of its own.
  for (const name of ["nats", "history"]) expect(surging.map((each) => each.name)).not.toContain(name);
});
