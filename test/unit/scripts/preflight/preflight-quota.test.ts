import { expect, test } from "vitest";

import { platformManifests } from "../../../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { checkQuota } from "../../../../scripts/preflight/check-quota.ts";
import { lineOf } from "../../../../scripts/preflight/finding.ts";
import { clusterOf } from "../../../support/pretended-lists.ts";

const path = "/api/v1/namespaces/weir";
const platform = readPlatform({ edition: "community", nats: { tls: false }, history: false });
const objects = platformManifests(platform).flatMap((part) => part.objects);

async function look(quota: object, more: Readonly<Record<string, object>> = {}): Promise<string[]> {
  const items = [{ metadata: { name: "team" }, ...quota }];
  const cluster = clusterOf({ [`${path}/resourcequotas`]: { items }, ...more });
  return (await checkQuota(cluster, platform, objects)).map(lineOf);
}

test("a quota that leaves enough, or is for other pods, is no problem", async () => {
  const hard = { pods: "10", "requests.cpu": "1", "requests.memory": "2Gi", persistentvolumeclaims: "1" };
  expect(await look({ status: { hard, used: { pods: "4", "requests.cpu": "150m" } } })).toEqual([]);
  const tight = { status: { hard: { pods: "1" } } };
  expect(await look({ ...tight, spec: { scopes: ["BestEffort"] } })).toEqual([]);
  expect(await look({ ...tight, spec: { scopeSelector: {} } })).toEqual([]);
});

test.each([
  ["pods", "10", "5", "leaves 5 of pods, and the platform asks for 6"],
  ["requests.cpu", "1", "200m", "leaves 0.8 of requests.cpu, and the platform asks for 0.85"],
  [
    "requests.storage",
    "5Gi",
    "0",
    `leaves ${5 * 2 ** 30} of requests.storage, and the platform asks for ${10 * 2 ** 30}`,
  ],
  ["count/secrets", "1", "1", undefined],
])("a quota of %s", async (name, hard, used, says) => {
  expect(await look({ status: { hard: { [name]: hard }, used: { [name]: used } } })).toEqual(
    says === undefined ? [] : [`PROBLEM quota team in namespace weir ${says}: raise it, or ask for less`],
  );
});

test("what the platform already uses does not count as used", async () => {
  const own = { [`${path}/pods?labelSelector=app.kubernetes.io%2Fpart-of%3Dweir`]: { items: [{}] } };
  expect(await look({ status: { hard: { pods: "6" }, used: { pods: "6" } } }, own)).toEqual([]);
});

test("a quota of CPU limits refuses pods without a limit, unless there is a default", async () => {
  const quota = { status: { hard: { "limits.cpu": "100" } } };
  expect(await look(quota)).toEqual([expect.stringMatching(/^PROBLEM quota team .*wants a CPU limit of each pod/)]);
  const limits = [{ type: "Container", default: { cpu: "1" } }];
  expect(await look(quota, { [`${path}/limitranges`]: { items: [{ spec: { limits } }] } })).toEqual([]);
});
