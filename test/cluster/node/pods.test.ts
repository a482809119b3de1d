import { afterAll, beforeAll, expect, test } from "vitest";

import { loadBaseImage } from "../../support/cluster-images.ts";
import { eventually } from "../../support/eventually.ts";
import { openTestCluster, type KubernetesObject, type TestCluster } from "../../support/test-cluster.ts";

let cluster: TestCluster;
let address: string;

const podTimeout = 120_000;
const labels = { app: "teller" };
const container = (image: string) => ({
  name: "teller",
  image,
  imagePullPolicy: "Never",
  env: [{ name: "fprocess", value: "sh -c 'echo asked >&2; cat /var/run/told/word'" }],
  readinessProbe: { httpGet: { path: "/_/ready", port: 8080 }, periodSeconds: 1 },
  volumeMounts: [{ name: "told", mountPath: "/var/run/told", readOnly: true }],
  securityContext: {
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  },
});
const secret = (word: string): KubernetesObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "told" },
  stringData: { word },
});
const deployment = (image: string): KubernetesObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "teller" },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        containers: [container(image)],
        volumes: [{ name: "told", secret: { secretName: "told" } }],
      },
    },
  },
});
const service: KubernetesObject = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "teller" },
  spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
};

beforeAll(async () => {
  cluster = await openTestCluster();
  const image = await loadBaseImage(cluster);
  await cluster.apply(secret("first"), service, deployment(image));
  await cluster.kubectl(["rollout", "status", "deployment/teller", "--timeout=110s"], { timeout: podTimeout });
  address = await cluster.kubectl(["get", "service", "teller", "--output=jsonpath={.spec.clusterIP}"]);
});
afterAll(() => cluster?.close());

/** The text that the pod behind the Service reads from its file. */
async function servedText(): Promise<string> {
  const response = await fetch(`http://${address}/`, { signal: AbortSignal.timeout(2_000) });
  expect(response.status).toBe(200);
  return response.text();
}

test("a pod of an image that was built here is reached through its Service", async () => {
  // The first connection may come before the Service knows its endpoint.
  expect(await eventually(servedText, { what: "an answer through the Service" })).toBe("first");
});

test("a changed secret reaches the running pod", async () => {
  const pods = ["get", "pods", "--output=jsonpath={.items[*].metadata.uid}"];
  const before = await cluster.kubectl(pods);
  await cluster.apply(secret("second"));
  await eventually(async () => (await servedText()) === "second", {
    within: 90_000,
    what: "the changed secret in the pod",
    every: 250,
  });
  expect(await cluster.kubectl(pods)).toBe(before);
});

test("the output of the pod is in its log", async () => {
  await servedText();
  const log = () => cluster.kubectl(["logs", "deployment/teller"]);
  await eventually(async () => (await log()).includes("asked"), { what: "the pod's line in its log", every: 250 });
});
