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

/** Somebody who is there: from level kwok on the cluster takes away what belongs to nobody. */
let owner: { readonly name: string; readonly uid: string };
let fixture: KubeFixture;
let client: KubeClient;
/** Somebody else. */
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

function wantedWith(env: Readonly<Record<string, string>>, annotations: Readonly<Record<string, string>> = {}) {
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

test("what is no longer wanted of an object that was created goes with the next change", async () => {
  const objects = new AppliedObjects(client);
  const made = await objects.make<Deployment>(
    kinds.deployment,
    wantedWith({ a: "1", b: "2" }, { x: "1" }),
    undefined,
    owner,
  );
  const changed = await objects.make<Deployment>(kinds.deployment, wantedWith({ a: "1" }), made, owner);
  expect(variablesOf(changed)).toEqual(["a"]);
  expect(changed.spec.template.metadata.annotations ?? {}).toEqual({});
});

test("containers and variables that were added by hand are taken out, annotations stay", async () => {
  const objects = new AppliedObjects(client);
  const wanted = wantedWith({ a: "1" });
  await objects.make<Deployment>(kinds.deployment, wanted, undefined, owner);
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
  const mended = await objects.make<Deployment>(kinds.deployment, wanted, drifted, owner);
  expect(mended.spec.template.spec.containers.map(({ name }) => name)).toEqual(["f"]);
  expect(variablesOf(mended)).toEqual(["a"]);
  expect(mended.spec.template.metadata.annotations).toEqual(metadata.annotations);
  const before = (await client.get(kinds.deployment, place())).metadata.generation;
  await objects.make(kinds.deployment, wanted, mended, owner);
  expect((await client.get(kinds.deployment, place())).metadata.generation).toBe(before);
});

test("whatever else somebody added to the description goes, also where all that is wanted is there", async () => {
  const objects = new AppliedObjects(client);
  const wanted = wantedWith({ a: "1" });
  const made = await objects.make<Deployment>(kinds.deployment, wanted, undefined, owner);
  const pod = {
    initContainers: [{ name: "first", image: "other:1" }],
    hostNetwork: true,
    nodeSelector: { disk: "ssd" },
    containers: [{ name: "f", envFrom: [{ configMapRef: { name: "c" } }], args: ["x"] }],
  };
  const added = { metadata: place(), spec: { paused: true, template: { spec: pod } } };
  const drifted = await hand.apply<Deployment>(kinds.deployment, added, place());
  expect(drifted.spec).toMatchObject({ paused: true, template: { spec: { hostNetwork: true } } });
  const mended = await objects.make<Deployment>(kinds.deployment, wanted, drifted, owner);
  expect(mended.spec).toEqual(made.spec);
  const again = new AppliedObjects(client);
  await again.make(kinds.deployment, wanted, mended, owner);
  expect((await client.get(kinds.deployment, place())).metadata.resourceVersion).toBe(mended.metadata.resourceVersion);
});

test("a Deployment made by hand is never adopted: not when none was seen, nor when another one was", async () => {
  const objects = new AppliedObjects(client);
  const seen = await objects.make<Deployment>(kinds.deployment, wantedWith({ a: "1" }), undefined, owner);
  await hand.delete(kinds.deployment, place());
  const { metadata, ...rest } = wantedWith({ own: "1" });
  const theirs = await hand.create<Deployment>(kinds.deployment, {
    ...rest,
    metadata: { ...metadata, ownerReferences: [] },
  });
  const wanted = wantedWith({ a: "2" });
  await expect(objects.make(kinds.deployment, wanted, seen, owner)).rejects.toMatchObject({
    code: "provider_unavailable",
  });
  await expect(objects.make(kinds.deployment, wanted, undefined, owner)).rejects.toThrow(TakenError);
  const { metadata: left, spec } = await client.get<Deployment>(kinds.deployment, place());
  expect([left.uid, left.generation, left.ownerReferences, spec]).toEqual([
    theirs.metadata.uid,
    theirs.metadata.generation,
    undefined,
    theirs.spec,
  ]);
});
