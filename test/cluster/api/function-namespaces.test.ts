import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubernetesObject } from "../../../infra/manifests/kubernetes-object.ts";
import { functionGuard } from "../../../infra/manifests/rights/namespace-guards.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import type { Edition } from "../../../runtime/api/editions.ts";
import { namespaceMarker, objectLabel } from "../../../runtime/api/names.ts";
import { applyDefinitions } from "../../support/apply-definitions.ts";
import { eventually } from "../../support/eventually.ts";
import { openTestCluster, type TestCluster } from "../../support/test-cluster.ts";

/** Functions lie where somebody makes them true. */
const marker = { [namespaceMarker.key]: namespaceMarker.value };
/** All say so, as other platforms of the cluster refuse what is nobody's. */
const of = (platform: string) => ({ [objectLabel.platform]: platform });

/** Creates namespaces with these labels in the order of their keys, and tells which of them take a Function. */
async function takenIn(
  cluster: TestCluster,
  edition: Edition,
  namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<{ readonly taken: string[]; readonly refusals: string[]; inside(name: string): string }> {
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
  // The API server enforces a policy some moments after it was made.
  await eventually(
    () =>
      create("foreign").then(
        () => false,
        () => true,
      ),
    { what: "the policy to be enforced" },
  );
  const taken: string[] = [];
  const refusals: string[] = [];
  for (const name of Object.keys(namespaces)) {
    await create(name).then(
      () => taken.push(name),
      (err: unknown) => refusals.push(String(err)),
    );
  }
  return { taken, refusals, inside };
}

describe("with many namespaces", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await openTestCluster();
  });
  afterAll(() => cluster.close());

  test("a Function is refused where no platform makes it true, and nowhere else", async () => {
    const { taken, refusals, inside } = await takenIn(cluster, "pro", {
      default: of(cluster.namespace),
      team: { ...marker, ...of(cluster.namespace) },
      other: of("another"),
      foreign: of(cluster.namespace),
    });
    expect(taken).toEqual(["default", "team", "other"]);
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
    // What is there when the namespace loses its marker can be noted on and deleted.
    const change = '--patch={"spec":{"image":"example/hello:2"}}';
    await eventually(
      () =>
        kubectl("patch", "fn", "left", "--type=merge", "--dry-run=server", change).then(
          () => false,
          () => true,
        ),
      { what: "the change to be refused" },
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
  afterAll(() => cluster.close());

  test("a Function is refused in every other one, but for those of another platform", async () => {
    const { taken, refusals, inside } = await takenIn(cluster, "community", {
      default: of(cluster.namespace),
      team: { ...marker, ...of(cluster.namespace) },
      other: { ...marker, ...of("another") },
      foreign: of(cluster.namespace),
    });
    expect(taken).toEqual(["default", "other"]);
    const sentence = `the namespace is not one for functions: in this edition that is "${inside("default")}" alone`;
    expect(refusals).toEqual([expect.stringContaining(sentence), expect.stringContaining(sentence)]);
  });
});
