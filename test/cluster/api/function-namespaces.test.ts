import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubernetesObject } from "../../../infra/manifests/kubernetes-object.ts";
import { functionGuard, ruleGuard } from "../../../infra/manifests/rights/namespace-guards.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import type { Edition } from "../../../runtime/api/editions.ts";
import { namespaceMarker, objectLabel } from "../../../runtime/api/names.ts";
import { applyDefinitions } from "../../support/apply-definitions.ts";
import { eventually } from "../../support/eventually.ts";
import { openTestCluster, type TestCluster } from "../../support/test-cluster.ts";

/** Label of namespaces whose functions are reconciled. */
const marker = { [namespaceMarker.key]: namespaceMarker.value };
/** Every namespace names its platform, as other platforms of the cluster refuse functions where none is named. */
const of = (platform: string) => ({ [objectLabel.platform]: platform });

/** Creates namespaces with these labels in the order of their keys, and tells which of them accept a Function. */
async function acceptedIn(
  cluster: TestCluster,
  edition: Edition,
  namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<{ readonly accepted: string[]; readonly refusals: string[]; inside(name: string): string }> {
  const inside = (name: string): string => `${cluster.namespace}-${name}`;
  await applyDefinitions(cluster);
  for (const [name, labels] of Object.entries(namespaces)) {
    await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: inside(name), labels } });
  }
  const platform = readPlatform({
    edition,
    platformNamespace: cluster.namespace,
    functionNamespace: inside("default"),
  });
  await cluster.apply(
    ...functionGuard(platform).map((object: KubernetesObject) => ({ ...object, metadata: { ...object.metadata } })),
  );
  const create = (name: string): Promise<string> =>
    cluster.kubectl(["create", "--dry-run=server", "--filename=-"], {
      namespace: inside(name),
      input: JSON.stringify({
        apiVersion: "service.com/v1",
        kind: "Function",
        metadata: { name: "hello" },
        spec: { image: "example/hello:1" },
      }),
    });
  // The API server enforces a policy some moments after its creation.
  await eventually(
    () =>
      create("foreign").then(
        () => false,
        () => true,
      ),
    { what: "the policy to be enforced", every: 500 },
  );
  const accepted: string[] = [];
  const refusals: string[] = [];
  for (const name of Object.keys(namespaces)) {
    await create(name).then(
      () => accepted.push(name),
      (err: unknown) => refusals.push(String(err)),
    );
  }
  return { accepted, refusals, inside };
}

describe("with many namespaces", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await openTestCluster();
  });
  afterAll(() => cluster?.close());

  test("a Function is refused where no platform reconciles it, and nowhere else", async () => {
    const { accepted, refusals, inside } = await acceptedIn(cluster, "pro", {
      default: of(cluster.namespace),
      team: { ...marker, ...of(cluster.namespace) },
      other: of("another"),
      foreign: of(cluster.namespace),
    });
    expect(accepted).toEqual(["default", "team", "other"]);
    expect(refusals).toEqual([
      expect.stringContaining("the namespace is not one for functions: it has no label com.service.namespace=1"),
    ]);

    const kubectl = (...args: readonly string[]): Promise<string> =>
      cluster.kubectl(args, { namespace: inside("team") });
    await cluster.apply({
      apiVersion: "service.com/v1",
      kind: "Function",
      metadata: { name: "left", namespace: inside("team") },
      spec: { image: "example/hello:1" },
    });
    await cluster.kubectl(["label", "namespace", inside("team"), `${namespaceMarker.key}-`], { namespace: null });
    // A Function that exists when its namespace loses the marker can be annotated and deleted, but not changed.
    const change = '--patch={"spec":{"image":"example/hello:2"}}';
    await eventually(
      () =>
        kubectl("patch", "fn", "left", "--type=merge", "--dry-run=server", change).then(
          () => false,
          () => true,
        ),
      { what: "the change to be refused", every: 250 },
    );
    await kubectl("annotate", "fn", "left", "note=1");
    await kubectl("delete", "fn", "left");
  });
});

describe("with one namespace", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await openTestCluster();
  });
  afterAll(() => cluster?.close());

  test("a Function is refused in every other namespace except those of another platform", async () => {
    const { accepted, refusals, inside } = await acceptedIn(cluster, "community", {
      default: of(cluster.namespace),
      team: { ...marker, ...of(cluster.namespace) },
      other: { ...marker, ...of("another") },
      foreign: of(cluster.namespace),
    });
    expect(accepted).toEqual(["default", "other"]);
    const sentence = `the namespace is not one for functions: in this edition that is "${inside("default")}" alone`;
    expect(refusals).toEqual([expect.stringContaining(sentence), expect.stringContaining(sentence)]);
  });
});

describe("objects that a platform reads in its own namespace alone", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await openTestCluster();
  });
  afterAll(() => cluster?.close());

  test("are warned of elsewhere, but in namespaces of other platforms", async () => {
    await applyDefinitions(cluster);
    const inside = (name: string): string => `${cluster.namespace}-${name}`;
    for (const [name, labels] of Object.entries({ elsewhere: {}, another: of("another") }))
      await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: inside(name), labels } });
    const platform = readPlatform({ platformNamespace: cluster.namespace, functionNamespace: inside("fn") });
    await cluster.apply(...ruleGuard(platform));
    const spec = { policy: ["deploy"] };
    const warned = async (namespace: string): Promise<boolean> => {
      const object = { apiVersion: "iam.service.com/v1", kind: "Role", metadata: { name: "ci" }, spec };
      const args = ["create", "--dry-run=server", "--filename=-", "--warnings-as-errors"];
      return cluster.kubectl(args, { namespace, input: JSON.stringify(object) }).then(
        () => false,
        (err: unknown) => String(err).includes(`are read in namespace "${cluster.namespace}" alone`),
      );
    };
    await eventually(() => warned(inside("elsewhere")), { what: "the policy to be in force", every: 500 });
    expect(await warned(cluster.namespace)).toBe(false);
    expect(await warned(inside("another"))).toBe(false);
    const names = ["elsewhere", "another"].map(inside);
    await cluster.kubectl(["delete", "namespace", ...names, "--wait=false"], { namespace: null });
  });
});
