import { afterAll, beforeAll, expect, test } from "vitest";

import type { KubernetesObject } from "../../../infra/manifests/kubernetes-object.ts";
import { platformManifests } from "../../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { restricted } from "../../../infra/manifests/namespaces.ts";
import { secretManifests } from "../../../infra/manifests/secrets.ts";
import { editionNames } from "../../../runtime/api/editions.ts";
import { objectLabel } from "../../../runtime/api/names.ts";
import { manifestsText } from "../../../scripts/render/manifests-text.ts";
import { secretValues } from "../../support/manifest-platform.ts";
import { openTestCluster, type TestCluster } from "../../support/test-cluster.ts";

let cluster: TestCluster;
let functionNamespace: string;

beforeAll(async () => {
  cluster = await openTestCluster();
  functionNamespace = `${cluster.namespace}-fn`;
  await cluster.apply({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: functionNamespace, labels: { [objectLabel.platform]: cluster.namespace } },
  });
  const labels = Object.entries(restricted).map(([key, value]) => `${key}=${value}`);
  await cluster.kubectl(["label", "namespace", cluster.namespace, ...labels], { namespace: null });
});
afterAll(() => cluster?.close());

/** Applies the objects as a dry run; every unknown field and every warning is an error. */
function dryRun(text: string): Promise<string> {
  const strict = ["--server-side", "--dry-run=server", "--validate=strict", "--warnings-as-errors"];
  return cluster.kubectl(["apply", ...strict, "--field-manager=weir-test", "--filename=-"], {
    input: text,
    namespace: null,
  });
}

const odd = {
  edition: "enterprise",
  nats: { replicas: 3, storageClass: "fast" },
  gateway: {
    replicas: 2,
    serviceType: "LoadBalancer",
    annotations: { "service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing" },
    loadBalancerClass: "service.k8s.aws/nlb",
    loadBalancerSourceRanges: ["203.0.113.0/24"],
  },
  publicUrl: "https://weir.example.com",
  autoscaler: { replicas: 2 },
  operator: { replicas: 2 },
  queueDoctor: { replicas: 2 },
  ingress: { host: "weir.example.com", className: "nginx", clusterIssuer: "some", annotations: { a: "off" } },
  console: { host: "console.example.com", className: "nginx", tlsSecret: "console", port: 9443 },
  monitoring: { namespaceLabels: { "kubernetes.io/metadata.name": "monitoring" }, podLabels: { app: "prometheus" } },
  images: { pullSecrets: ["registry"] },
  clusterRanges: ["10.0.0.0/8", "fd00::/8"],
  memory: { gateway: "1Gi" },
  cpu: { nats: "2" },
  queues: { default: { max_inflight: 2 }, reports_a: { max_inflight: 8, replicas: 2 }, ["x".repeat(63)]: {} },
};

test.each<readonly [string, Readonly<Record<string, unknown>>]>([
  ...editionNames.map((edition) => [edition, { edition }] as const),
  ["with every setting", odd],
  ["with a database for the history", { historyDatabase: "postgres://weir:word@db/calls" }],
  ["with a broker that runs elsewhere", { nats: { url: "tls://broker.example.com:4222" } }],
])("%s: every object is accepted, strictly and without a warning", async (_, input) => {
  const platform = readPlatform({ ...input, platformNamespace: cluster.namespace, functionNamespace });
  const tls = { certificate: "PEM", key: "PEM", authority: "PEM" };
  const parts = platformManifests(platform, { secrets: secretManifests(platform, secretValues(platform, tls)) });
  const objects = parts.flatMap((part) => part.objects);
  const results = (await dryRun(manifestsText(parts))).trim().split("\n");
  expect(results).toHaveLength(objects.length);
});

test("an unknown field, and pods below the level restricted, would be rejected", async () => {
  const platform = readPlatform({ platformNamespace: cluster.namespace, functionNamespace });
  const objects = platformManifests(platform).flatMap((part) => part.objects);
  const operator = objects.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === "operator");
  const text = (object: KubernetesObject | undefined) =>
    manifestsText([{ name: "operator", objects: object === undefined ? [] : [object] }]);
  await expect(dryRun(text(operator).replace("replicas:", "replica:"))).rejects.toThrow(
    /spec\.replica: field not declared/,
  );
  await expect(dryRun(text(operator).replace("runAsNonRoot: true", "runAsNonRoot: false"))).rejects.toThrow(
    /would violate PodSecurity/,
  );
});
