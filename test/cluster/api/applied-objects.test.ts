import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import type { KubeObject } from "../../../runtime/adapters/kubernetes/client/kube-types.ts";
import { readKubeconfig } from "../../../runtime/adapters/kubernetes/client/kubeconfig.ts";
import { AppliedObjects, TakenError } from "../../../runtime/adapters/kubernetes/operator/apply-wanted.ts";
import { openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";

interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly {
          readonly name: string;
          readonly env?: readonly { readonly name: string; readonly value: string }[];
        }[];
      };
    };
  };
}

/** An owner that exists: from level kwok on, the cluster garbage-collects objects whose owner is gone. */
let owner: { readonly name: string; readonly uid: string };
let fixture: KubeFixture;
let client: KubeClient;
/** Another field manager. */
let hand: KubeClient;
let namespace: string;

beforeAll(async () => {
  fixture = await openKubeFixture();
  client = fixture.admin;
  hand = new KubeClient(await readKubeconfig(fixture.cluster.kubeconfig), { fieldManager: "by-hand" });
  [namespace] = fixture.namespaces;
  const made = await hand.create<KubeObject>(kinds.configMap, { metadata: { namespace, name: "owner" } });
  owner = { name: "owner", uid: made.metadata.uid ?? "" };
});
afterEach(() => fixture.empty(kinds.deployment));
afterAll(async () => {
  await hand?.close();
  await fixture?.close();
});

function deploymentWith(env: Readonly<Record<string, string>>, annotations: Readonly<Record<string, string>> = {}) {
  const labels = { faas_function: "f" };
  const references = [{ apiVersion: "v1", kind: "ConfigMap", ...owner, controller: true }];
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
  return {
    metadata: { namespace, name: "f", labels, ownerReferences: references },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: { containers: [{ name: "f", image: "hello:1", env: variables }] },
      },
    },
  };
}

const place = () => ({ namespace, name: "f" });
const variablesOf = ({ spec }: Deployment) => spec.template.spec.containers[0]?.env?.map(({ name }) => name) ?? [];

test("fields that are no longer desired disappear from a created object with the next change", async () => {
  const objects = new AppliedObjects(client);
  const made = await objects.make<Deployment>(
    kinds.deployment,
    deploymentWith({ a: "1", b: "2" }, { x: "1" }),
    undefined,
    owner,
  );
  const changed = await objects.make<Deployment>(kinds.deployment, deploymentWith({ a: "1" }), made, owner);
  expect(variablesOf(changed)).toEqual(["a"]);
  expect(changed.spec.template.metadata.annotations ?? {}).toEqual({});
});

test("containers and variables that were added by hand are removed, annotations stay", async () => {
  const objects = new AppliedObjects(client);
  const desired = deploymentWith({ a: "1" });
  await objects.make<Deployment>(kinds.deployment, desired, undefined, owner);
  const container = {
    name: "f",
    image: "hello:1",
    env: [
      { name: "a", value: "1" },
      { name: "b", value: "2" },
    ],
  };
  const containers = [container, { name: "sidecar", image: "other:1" }];
  const metadata = { annotations: { "kubectl.kubernetes.io/restartedAt": "now" } };
  const drifted = await hand.patch<Deployment>(
    kinds.deployment,
    "merge",
    { spec: { template: { metadata, spec: { containers } } } },
    place(),
  );
  const repaired = await objects.make<Deployment>(kinds.deployment, desired, drifted, owner);
  expect(repaired.spec.template.spec.containers.map(({ name }) => name)).toEqual(["f"]);
  expect(variablesOf(repaired)).toEqual(["a"]);
  expect(repaired.spec.template.metadata.annotations).toEqual(metadata.annotations);
  const before = (await client.get(kinds.deployment, place())).metadata.generation;
  await objects.make(kinds.deployment, desired, repaired, owner);
  expect((await client.get(kinds.deployment, place())).metadata.generation).toBe(before);
});

test("other fields that somebody added to the spec are removed, even if all desired ones are there", async () => {
  const objects = new AppliedObjects(client);
  const desired = deploymentWith({ a: "1" });
  const made = await objects.make<Deployment>(kinds.deployment, desired, undefined, owner);
  const pod = {
    initContainers: [{ name: "first", image: "other:1" }],
    hostNetwork: true,
    nodeSelector: { disk: "ssd" },
    containers: [{ name: "f", envFrom: [{ configMapRef: { name: "c" } }], args: ["x"] }],
  };
  const added = { metadata: place(), spec: { paused: true, template: { spec: pod } } };
  const drifted = await hand.apply<Deployment>(kinds.deployment, added, place());
  expect(drifted.spec).toMatchObject({ paused: true, template: { spec: { hostNetwork: true } } });
  const repaired = await objects.make<Deployment>(kinds.deployment, desired, drifted, owner);
  expect(repaired.spec).toEqual(made.spec);
  // A restarted operator finds nothing more to remove.
  const later = await new AppliedObjects(client).make<Deployment>(kinds.deployment, desired, repaired, owner);
  expect(later.metadata.generation).toBe(repaired.metadata.generation);
});

test("added fields are removed even if a controller writes at the same moment", async () => {
  const desired = deploymentWith({ a: "1" });
  const made = await new AppliedObjects(client).make<Deployment>(kinds.deployment, desired, undefined, owner);
  const drifted = await hand.patch<Deployment>(kinds.deployment, "merge", { spec: { paused: true } }, place());
  class BusyClient extends KubeClient {
    override async apply<T extends KubeObject>(...args: Parameters<KubeClient["apply"]>): Promise<T> {
      const applied = await super.apply<T>(...args);
      await hand.patch(kinds.deployment, "merge", { metadata: { annotations: { revision: "2" } } }, place());
      return applied;
    }
  }
  const busy = new BusyClient(await readKubeconfig(fixture.cluster.kubeconfig), { fieldManager: client.fieldManager });
  try {
    const repaired = await new AppliedObjects(busy).make<Deployment>(kinds.deployment, desired, drifted, owner);
    expect(repaired.spec).toEqual(made.spec);
    expect(repaired.metadata.annotations).toMatchObject({ revision: "2" });
  } finally {
    await busy.close();
  }
});

test("a Deployment created by hand is never adopted, whether none or another one was seen before", async () => {
  const objects = new AppliedObjects(client);
  const seen = await objects.make<Deployment>(kinds.deployment, deploymentWith({ a: "1" }), undefined, owner);
  await hand.delete(kinds.deployment, place());
  const { metadata, ...rest } = deploymentWith({ own: "1" });
  const theirs = await hand.create<Deployment>(kinds.deployment, {
    ...rest,
    metadata: { ...metadata, ownerReferences: [] },
  });
  const desired = deploymentWith({ a: "2" });
  await expect(objects.make(kinds.deployment, desired, seen, owner)).rejects.toMatchObject({
    code: "provider_unavailable",
  });
  await expect(objects.make(kinds.deployment, desired, undefined, owner)).rejects.toThrow(TakenError);
  const { metadata: left, spec } = await client.get<Deployment>(kinds.deployment, place());
  expect([left.uid, left.generation, left.ownerReferences, spec]).toEqual([
    theirs.metadata.uid,
    theirs.metadata.generation,
    undefined,
    theirs.spec,
  ]);
});
