import { afterAll, beforeAll, expect, test } from "vitest";

import { platformManifests } from "../../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { secretManifests } from "../../../infra/manifests/secrets.ts";
import { manifestsText } from "../../../scripts/render/manifests-text.ts";
import { eventually } from "../../support/eventually.ts";
import { openPretendedCluster } from "../../support/pretended-cluster.ts";
import { secretValues } from "../../support/manifest-platform.ts";
import type { TestCluster } from "../../support/test-cluster.ts";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await openPretendedCluster();
}, 120_000);
afterAll(() => cluster?.close());

/** The broker as `npm run render` prints it, with its Secrets. */
function broker(storage: string): string {
  const nats = { tls: false, storage };
  const platform = readPlatform({ edition: "community", platformNamespace: cluster.namespace, nats });
  const secrets = secretManifests(platform, secretValues(platform));
  const parts = platformManifests(platform, { secrets });
  return manifestsText(parts.filter(({ name }) => name === "nats" || name === "secrets"));
}
const apply = (text: string) =>
  cluster.kubectl(["apply", "--server-side", "--field-manager=weir-test", "--filename=-"], { input: text });
const field = (object: string, path: string) => cluster.kubectl(["get", object, `--output=jsonpath={${path}}`]);

test("another disk size of the broker needs a recreated StatefulSet, and the claim keeps its size", async () => {
  await apply(broker("1Gi"));
  await eventually(async () => (await field("statefulset/nats", ".status.readyReplicas")) === "1", {
    what: "the broker",
    every: 250,
  });
  await expect(apply(broker("2Gi"))).rejects.toThrow(/updates to statefulset spec for fields other than/);
  await cluster.kubectl(["delete", "statefulset", "nats", "--cascade=orphan"]);
  await apply(broker("2Gi"));
  await eventually(async () => (await field("statefulset/nats", ".status.readyReplicas")) === "1", {
    what: "the broker with its old disk",
    every: 250,
  });
  expect(await field("pvc/data-nats-0", ".spec.resources.requests.storage")).toBe("1Gi");
});
