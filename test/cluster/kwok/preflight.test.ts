import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { platformManifests } from "../../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { clusterBinaries } from "../../../scripts/cluster/places.ts";
import { environment } from "../../../runtime/process/settings.ts";
import type { Node } from "../../../scripts/preflight/check-nodes.ts";
import { nodeRooms, place } from "../../../scripts/preflight/node-room.ts";
import { platformRequests } from "../../../scripts/preflight/platform-requests.ts";
import { sum, type PodSpec } from "../../../scripts/preflight/pod-requests.ts";
import { eventually } from "../../support/eventually.ts";
import { openPretendedCluster } from "../../support/pretended-cluster.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import type { TestCluster } from "../../support/test-cluster.ts";

const root = join(import.meta.dirname, "..", "..", "..");
let cluster: TestCluster;
let directory: TempDirectory;

beforeAll(async () => {
  directory = await tempDirectory("preflight");
  cluster = await openPretendedCluster();
  const metadata = { name: "visitor" };
  await cluster.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata });
}, 120_000);
afterAll(async () => {
  await cluster?.close();
  await directory?.remove();
});

/** Output and exit code of the command, run with `kubeconfig`. */
function preflight(
  kubeconfig: string | undefined,
  ...args: readonly string[]
): Promise<{ code: number; lines: string[] }> {
  const where = kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig];
  const command = [join(root, "scripts/preflight/main.ts"), ...where, ...args];
  const env = { ...environment(), PATH: `${clusterBinaries()}:${environment()["PATH"] ?? ""}` };
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: root, env, timeout: 60_000 }, (err, stdout, stderr) =>
      resolve({ code: err === null ? 0 : Number(err.code ?? -1), lines: `${stdout}${stderr}`.trim().split("\n") }),
    );
  });
}

test("an administrator is told what exists, and that the images do not", async () => {
  const { code, lines } = await preflight(cluster.kubeconfig, "--stack", "Pulumi.enterprise.sample.yaml");
  expect(lines).toContainEqual(expect.stringMatching(/^ok {6}Kubernetes v1\.\d+/));
  expect(lines).toContainEqual(expect.stringMatching(/^ok {6}you may do all \d+ things/));
  expect(lines).toContainEqual(expect.stringMatching(/^ok {6}\d+ of \d+ nodes are ready/));
  expect(lines).toContainEqual(
    expect.stringMatching(
      /^ok {6}the platform asks for \d+m CPU and [\d.]+Gi in \d+ pods, \d+ nodes? ha(?:s|ve) \d+m CPU and/,
    ),
  );
  const problems = lines.filter((line) => line.startsWith("PROBLEM"));
  expect(problems.filter((line) => !/^PROBLEM (?:image|storage class) /.test(line))).toEqual([]);
  expect(code).toBe(problems.length === 0 ? 0 : 1);
});

test("disks that no volume is large enough for are reported", async () => {
  await cluster.apply({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: cluster.namespace },
    provisioner: "kubernetes.io/no-provisioner",
  });
  for (const [name, storage] of [
    ["small", "5Gi"],
    ["large", "20Gi"],
  ])
    await cluster.apply({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `${cluster.namespace}-${name}` },
      spec: {
        capacity: { storage },
        accessModes: ["ReadWriteOnce"],
        storageClassName: cluster.namespace,
        hostPath: { path: "/nowhere" },
      },
    });
  const check = async (storage: string) => {
    const file = join(directory.path, `${storage}.yaml`);
    const nats = `  weir:nats:\n    storageClass: ${cluster.namespace}\n    storage: ${storage}\n`;
    await writeFile(file, `config:\n  weir:historyStorage: 4Gi\n${nats}`);
    return (await preflight(cluster.kubeconfig, "--stack", file)).lines;
  };
  await eventually(
    async () => (await check("10Gi")).includes(`ok      storage class ${cluster.namespace} for 1 × 10Gi and 1 × 4Gi`),
    {
      what: "volumes that are available",
    },
  );
  expect(await check("21Gi")).toContainEqual(
    expect.stringMatching(/^PROBLEM storage class \S+ makes no volumes, and of 1 × 21Gi has 0: add volumes/),
  );
});

describe("room for the platform", () => {
  const platform = readPlatform({ edition: "community", nats: { tls: false } });
  const planned = platformRequests(platformManifests(platform).flatMap((part) => part.objects)).pods;
  const asked = sum(planned.map(({ requests }) => requests));

  /** Creates a node that accepts only the pods of {@link onlyOn}, with `cpu` thousandths of a processor. */
  async function nodeOf(cpu: number): Promise<Node> {
    const name = `room-${randomBytes(4).toString("hex")}`;
    const size = { cpu: `${cpu}m`, memory: String(asked.memory), pods: "20" };
    await cluster.apply({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { room: name, type: "kwok" }, annotations: { "kwok.x-k8s.io/node": "fake" } },
      spec: { taints: [{ key: "room", value: name, effect: "NoSchedule" }] },
      status: { allocatable: size, capacity: size },
    });
    return eventually(
      async () => {
        const node = JSON.parse(await cluster.kubectl(["get", "node", name, "--output=json"])) as Node;
        const isReady = node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
        // The taint of a node that is not ready is removed a moment later.
        return isReady === true && node.spec?.taints?.length === 1 && node;
      },
      { what: `node ${name}`, every: 250 },
    );
  }

  const onlyOn = ({ metadata }: Node): PodSpec => ({
    nodeSelector: { room: metadata.name },
    tolerations: [{ key: "room", operator: "Equal", value: metadata.name }],
  });

  /** Number of planned pods that the scheduler found no node for. */
  async function unschedulable(node: Node): Promise<number> {
    const pods = planned.map(({ spec }, index) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `${node.metadata.name}-${index}`, labels: { room: node.metadata.name } },
      spec: {
        ...onlyOn(node),
        containers: spec.containers?.map(({ resources }) => ({ name: "pod", image: "pause", resources })),
      },
    }));
    await cluster.apply(...pods);
    return eventually(
      async () => {
        const args = ["get", "pods", `--selector=room=${node.metadata.name}`, "--output=json"];
        const { items } = JSON.parse(await cluster.kubectl(args)) as { items: readonly ScheduledPod[] };
        const judged = items.flatMap(
          ({ status }) => status?.conditions?.filter(({ type }) => type === "PodScheduled") ?? [],
        );
        return judged.length === planned.length && { count: judged.filter(({ status }) => status === "False").length };
      },
      { what: "the scheduler", every: 250 },
    ).then(({ count }) => count);
  }

  test.each([
    ["as much as it asks for", 0],
    ["less than it asks for", 10],
  ])("the scheduler agrees: %s", async (_what, lacking) => {
    const node = await nodeOf(asked.cpu - lacking);
    const pods = planned.map((pod) => ({ ...pod, spec: { ...pod.spec, ...onlyOn(node) } }));
    const { homeless } = place(pods, nodeRooms([node], []));
    const left = await unschedulable(node);
    expect([homeless.length > 0, left > 0]).toEqual([lacking > 0, lacking > 0]);
  });
});

interface ScheduledPod {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

test("an account without rights is told which are missing, and what cannot be checked", async () => {
  const { kubeconfig } = await cluster.account("visitor");
  const { code, lines } = await preflight(kubeconfig);
  expect(code).toBe(1);
  expect(lines).toContainEqual(
    expect.stringMatching(/^PROBLEM you may not get, create, patch, delete deployments in weir:/),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^note {4}nodes cannot be looked at: .*forbidden/));
  expect(lines).toContainEqual(expect.stringMatching(/^note {4}capacity cannot be looked at: .*forbidden/));
  expect(lines.at(-1)).toMatch(/^\d+ things are in the way\.$/);
});

test("a stack whose kubeconfig only Pulumi can read: no other cluster is checked instead", async () => {
  const file = join(directory.path, "Pulumi.kept.yaml");
  await writeFile(file, "config:\n  weir:kubeconfig:\n    secure: v1:abc\n");
  const { code, lines } = await preflight(undefined, "--stack", file);
  expect([code, lines.slice(1)]).toEqual([
    1,
    [
      "PROBLEM weir:kubeconfig is encrypted, so the cluster of the stack is not known: say it with --kubeconfig FILE",
      "1 thing is in the way.",
    ],
  ]);
});

test("an unreachable cluster, and a missing stack, are reported", async () => {
  const away = await preflight("/nowhere/kubeconfig");
  expect(away.code).toBe(1);
  expect(away.lines).toContainEqual(expect.stringMatching(/^PROBLEM the API server cannot be asked: /));
  const missing = await preflight(cluster.kubeconfig, "--stack", "Pulumi.none.yaml");
  expect(missing).toEqual({ code: 1, lines: [expect.stringMatching(/^Cannot read the stack "Pulumi\.none\.yaml": /)] });
});
