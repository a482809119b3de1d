import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { customResourceDefinitions } from "../../../infra/manifests/definitions/custom-resource-definitions.ts";
import { customResources } from "../../../runtime/api/resources/custom-resources.ts";
import { applyDefinitions, definitionNames } from "../../support/apply-definitions.ts";
import { openApiServerClient, type ApiServerClient } from "../../support/api-server-client.ts";
import { badRows, goodRows, objectOf, type ResourceRow } from "../../support/custom-resource-rows.ts";
import { openTestCluster, type KubernetesObject, type TestCluster } from "../../support/test-cluster.ts";

let cluster: TestCluster;
let client: ApiServerClient;

beforeAll(async () => {
  cluster = await openTestCluster();
  await applyDefinitions(cluster);
  client = await openApiServerClient(cluster);
});
afterAll(async () => {
  await client?.close();
  await cluster?.close();
});

function path({ kind }: Pick<ResourceRow, "kind">, more = ""): string {
  const { group, version, plural } = customResources[kind];
  return `/apis/${group}/${version}/namespaces/${cluster.namespace}/${plural}${more}`;
}

/** Creates nothing; refuses unknown fields, as `kubectl` requests. */
const dryRun = (row: ResourceRow) =>
  client.send("POST", path(row, "?dryRun=All&fieldValidation=Strict"), objectOf(row));

interface Definition {
  readonly metadata: { readonly name: string };
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

test("every definition is established and has a structural schema", async () => {
  const { items } = JSON.parse(
    await cluster.kubectl(["get", "crd", ...definitionNames, "--output=json"], { namespace: null }),
  ) as { items: Definition[] };
  expect(items.map(({ metadata, status }) => [metadata.name, conditions(status.conditions)])).toEqual(
    definitionNames.map((name) => [name, { NamesAccepted: "True", Established: "True" }]),
  );
  function conditions(list: Definition["status"]["conditions"]) {
    return Object.fromEntries(list.map(({ type, status }) => [type, status]));
  }
});

test("the definitions of the manifests equal the files", async () => {
  const diff = cluster.kubectl(["diff", "--server-side", "--force-conflicts", "--filename=-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items: customResourceDefinitions() }),
    namespace: null,
  });
  expect(await diff).toBe("");
});

describe("the API server refuses", () => {
  test.each(badRows)("$kind $field: $rule", async (row) => {
    const { status, body } = await dryRun(row);
    expect(body.message).toContain(row.field);
    expect(body.message).toContain(row.rule);
    expect(body.message).not.toContain("rule evaluation error");
    expect(status).toBe(row.rule === "unknown field" ? 400 : 422);
  });
});

describe("the API server accepts", () => {
  test.each(goodRows.map((row, index) => [`${row.kind} ${row.name} (${index})`, row] as const))(
    "%s, and keeps it as it was sent",
    async (_, row) => {
      const { status, body } = await dryRun(row);
      expect(body.message).toBeUndefined();
      expect(status).toBe(201);
      expect(body.spec).toMatchObject(row.spec as object);
    },
  );
});

describe("a Function", () => {
  const functions = { kind: "function" } as const;
  const hello: KubernetesObject = {
    ...objectOf({ ...functions, name: "hello", spec: { image: "ghcr.io/acme/hello:1" } }),
  };
  const status = {
    reason: "Starting",
    conditions: [
      { type: "Ready", status: "True", reason: "A", message: "", lastTransitionTime: "2026-01-31T12:00:00Z" },
      { type: "Healthy", status: "Unknown", reason: "B", message: "", lastTransitionTime: "2026-01-31T12:00:00.123Z" },
    ],
    replicas: 3,
    availableReplicas: 2,
    unavailableReplicas: 1,
    observedGeneration: 1,
    selector: "faas_function=hello",
    profiles: ["gpu"],
  };
  const kubectl = (...args: string[]) => cluster.kubectl(args);

  beforeAll(async () => {
    await cluster.apply(hello);
    await kubectl(
      "patch",
      "fn",
      "hello",
      "--subresource=status",
      "--type=merge",
      `--patch=${JSON.stringify({ status })}`,
    );
    await kubectl("scale", "fn/hello", "--replicas=3");
  });

  test("is listed by its short name with the most useful columns, and in the category of Weir", async () => {
    const lines = (await kubectl("get", "fn")).trimEnd().split("\n");
    expect(lines.map((line) => line.split(/\s{2,}/).slice(0, -1))).toEqual([
      ["NAME", "READY", "REASON", "DESIRED", "AVAILABLE", "IMAGE"],
      ["hello", "True", "Starting", "3", "2", "ghcr.io/acme/hello:1"],
    ]);
    expect(await kubectl("get", "weir", "--output=name")).toBe("function.service.com/hello\n");
  });

  test("is scaled by kubectl within its labels, and reports its replicas to scalers", async () => {
    await kubectl("scale", "fn/hello", "--replicas=4");
    expect(await kubectl("get", "fn", "hello", "--output=jsonpath={.spec.replicas}")).toBe("4");
    await expect(kubectl("scale", "fn/hello", "--replicas=21")).rejects.toThrow(
      'spec.replicas: Invalid value: "object": expected at most the label com.service.scale.max',
    );
    const { body } = await client.send("GET", path(functions, "/hello/scale"));
    expect(body).toMatchObject({
      kind: "Scale",
      spec: { replicas: 4 },
      status: { replicas: 3, selector: "faas_function=hello" },
    });
  });

  test("may get a maximum below its replicas, which scalers then obey", async () => {
    const lowered = (spec: object): KubernetesObject => ({
      ...hello,
      spec: { image: "ghcr.io/acme/hello:2", ...spec },
    });
    await kubectl("scale", "fn/hello", "--replicas=4");
    await cluster.apply(lowered({ labels: { "com.service.scale.max": "3" } }));
    expect(await kubectl("get", "fn", "hello", "--output=jsonpath={.spec.replicas}")).toBe("4");
    await expect(kubectl("scale", "fn/hello", "--replicas=5")).rejects.toThrow("com.service.scale.max");
    await kubectl("scale", "fn/hello", "--replicas=3");
  });

  test("has a generation that changes of its status do not increase", async () => {
    const generation = () => kubectl("get", "fn", "hello", "--output=jsonpath={.metadata.generation}");
    const before = await generation();
    await kubectl("patch", "fn", "hello", "--subresource=status", "--type=merge", '--patch={"status":{"replicas":9}}');
    expect(await generation()).toBe(before);
  });

  test("keeps the conditions of each of their writers", async () => {
    const scaling = {
      type: "Scaling",
      status: "True",
      reason: "Load",
      message: "",
      lastTransitionTime: "2026-01-31T12:00:00Z",
    };
    const input = JSON.stringify({ ...hello, spec: undefined, status: { conditions: [scaling] } });
    await cluster.kubectl(
      ["apply", "--server-side", "--subresource=status", "--field-manager=scaler", "--validate=false", "--filename=-"],
      { input },
    );
    const types = await kubectl("get", "fn", "hello", "--output=jsonpath={.status.conditions[*].type}");
    expect(types.split(" ").toSorted()).toEqual(["Healthy", "Ready", "Scaling"]);
  });

  test("refuses a malformed status", async () => {
    const patch = (bad: object) =>
      kubectl(
        "patch",
        "fn",
        "hello",
        "--subresource=status",
        "--type=merge",
        `--patch=${JSON.stringify({ status: bad })}`,
      );
    await expect(patch({ replicas: -1 })).rejects.toThrow("status.replicas");
    await expect(patch({ conditions: [{ type: "Fine", status: "True" }] })).rejects.toThrow(
      "status.conditions[0].type",
    );
  });
});

test("tokens of an issuer live as long as the contract says by default", async () => {
  const { body } = await dryRun({
    kind: "jwtIssuer",
    name: "a",
    spec: { iss: "https://issuer.example.com", aud: ["weir"] },
  });
  expect(body.spec?.["tokenExpiry"]).toBe("30m");
});
