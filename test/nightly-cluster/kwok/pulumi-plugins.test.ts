import { X509Certificate } from "node:crypto";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../../support/eventually.ts";
import { openPulumiStack, pulumiCommand, type PulumiStack } from "../../support/engine-stack.ts";
import { hasPretendedCluster, openPretendedCluster } from "../../support/pretended-cluster.ts";
import type { TestCluster } from "../../support/test-cluster.ts";

/** Checks that the stand-ins of the provider plugins do what the real ones do, as far as a program notices. */
const sample = join(import.meta.dirname, "..", "..", "support", "pulumi", "sample");

const isThere = pulumiCommand() !== undefined && hasPretendedCluster();

let cluster: TestCluster;
let stack: PulumiStack;
let namespace: string;

beforeAll(async () => {
  if (!isThere) return;
  cluster = await openPretendedCluster();
  namespace = `${cluster.namespace}-sample`;
  stack = await openPulumiStack(sample);
  await stack.configure({ "sample:kubeconfig": cluster.kubeconfig, "sample:namespace": namespace });
});
afterAll(async () => {
  await stack?.close();
  await cluster?.kubectl(["delete", "namespace", namespace, "--ignore-not-found"], { namespace: null });
  await cluster?.close();
});

const kubectl = (...args: readonly string[]): Promise<string> => cluster.kubectl(args, { namespace });

describe.skipIf(!isThere)("the stand-ins of the provider plugins", () => {
  test("a preview changes nothing; up creates all and awaits it; then there is nothing to do", async () => {
    const preview = await stack.expect("preview");
    expect(preview.changes).toHaveLength(10);
    await expect(kubectl("get", "namespace", namespace)).rejects.toThrow("not found");
    const up = await stack.expect("up");
    expect(up.changes).toEqual(preview.changes);
    expect(await kubectl("get", "deployment", "web", "--output=jsonpath={.status.availableReplicas}")).toBe("1");
    const outputs = await stack.outputs();
    expect(outputs).toMatchObject({ address: `web.${namespace}`, word: expect.stringMatching(/^[A-Za-z0-9]{40}$/) });
    const port = await cluster.kubectl(["get", "endpointslice", "kubernetes", "--output=jsonpath={.ports[0].port}"], {
      namespace: "default",
    });
    expect(outputs["apiServer"]).toEqual([`https:${port}`]);
    expect(new X509Certificate(String(outputs["authority"])).subjectAltName).toBe("DNS:web.sample.svc");
    expect((await stack.expect("up")).changes).toEqual([]);
    expect((await stack.expect("refresh", "--expect-no-changes")).changes).toEqual([]);
  });

  test("no secret is stored in plain text", async () => {
    const { word } = await stack.outputs();
    const [name = ""] = (await kubectl("get", "secret", "--output=name")).split("\n");
    const { data } = JSON.parse(await kubectl("get", name, "--output=json")) as { data: { password: string } };
    expect(Buffer.from(data.password, "base64").toString()).toBe(word);
    const files = await stack.files();
    expect(files).toContain("ciphertext");
    expect(files).not.toContain(String(word));
    expect(files).not.toContain(data.password);
    expect(files).not.toContain("PRIVATE KEY");
  });

  test("a ConfigMap is replaced: created first if its new name is free, else deleted first", async () => {
    await stack.configure({ "sample:colour": "green" });
    const preview = await stack.expect("preview");
    const { changes, steps } = await stack.expect("up");
    expect(preview.changes.filter((change) => change.includes("replace"))).not.toEqual([]);
    expect(changes).toEqual([
      "create-replacement ConfigMap fixed",
      "create-replacement ConfigMap settings",
      "delete-replaced ConfigMap fixed",
      "delete-replaced ConfigMap settings",
      "replace ConfigMap fixed",
      "replace ConfigMap settings",
      "update Deployment web",
    ]);
    const order = (name: string) => steps.filter((step) => step.name === name).map(({ op }) => op);
    expect(order("fixed").indexOf("delete-replaced")).toBeLessThan(order("fixed").indexOf("create-replacement"));
    expect(order("settings").indexOf("delete-replaced")).toBeGreaterThan(
      order("settings").indexOf("create-replacement"),
    );
  });

  test("content changes in place where the provider is configured so", async () => {
    await stack.configure({ "sample:mutable": true });
    await stack.expect("up");
    await stack.configure({ "sample:colour": "blue" });
    expect((await stack.expect("up")).changes).toEqual(["update ConfigMap fixed", "update ConfigMap settings"]);
  });

  test("a selector cannot be changed: the Deployment is replaced", async () => {
    await stack.configure({ "sample:label": "other" });
    const { changes } = await stack.expect("up");
    expect(changes).toContain("create-replacement Deployment web");
    expect(changes).toContain("delete-replaced Deployment web");
  });

  test("a change by somebody else is drift, and a conflict for a change of the same field", async () => {
    await cluster.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "fixed", namespace, labels: { from: "elsewhere" } },
    });
    expect((await stack.expect("refresh", "--expect-no-changes")).changes).toEqual([]);
    const patch = JSON.stringify({ data: { colour: "white" } });
    await kubectl("patch", "configmap", "fixed", "--type=merge", "--field-manager=somebody", `--patch=${patch}`);
    expect((await stack.run("refresh", "--preview-only", "--expect-no-changes")).code).not.toBe(0);
    await stack.configure({ "sample:fixed": "black" });
    const refused = await stack.run("up");
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain("somebody");
    expect(refused.output).toContain("Server-Side Apply field conflict");
  });

  test("replicas that are left to others stay unchanged", async () => {
    await stack.configure({ "sample:fixed": "white" });
    await kubectl("scale", "deployment/web", "--replicas=3");
    await stack.expect("up", "--refresh");
    expect(await kubectl("get", "deployment", "web", "--output=jsonpath={.spec.replicas}")).toBe("3");
  });

  test("an existing object is not adopted; one that is never ready is reported, and kept in the state", async () => {
    const names = async () => (await stack.resources()).map(({ urn }) => urn.split("::").at(-1));
    // One after the other: the first error of an update ends the rest of it.
    await stack.configure({ "sample:hopeless": true });
    const waited = await stack.run("up");
    expect(waited.code).not.toBe(0);
    expect(waited.output).toContain("does not target any ready pods");
    expect(await names()).toContain("hopeless");

    await kubectl("create", "configmap", "occupied");
    await stack.configure({ "sample:hopeless": false, "sample:taken": "occupied" });
    const refused = await stack.run("up");
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain('configmaps "occupied" already exists');
    expect(await names()).not.toContain("taken");
  });

  test("a Deployment that was ready before a change counts as ready after it, whatever its pods do", async () => {
    // More than any node has: the new pod never starts.
    await stack.configure({ "sample:hopeless": false, "sample:taken": undefined, "sample:cpu": "999" });
    await stack.expect("up");
    const status = "--output=jsonpath={.items[*].status.conditions[?(@.type=='PodScheduled')].status}";
    await eventually(async () => (await kubectl("get", "pods", status)).includes("False"), {
      what: "a pod that no node has room for",
      every: 500,
    });
  });

  test("destroy leaves nothing", async () => {
    await stack.expect("destroy");
    expect(await stack.resources()).toEqual([]);
    await expect(kubectl("get", "namespace", namespace)).rejects.toThrow("not found");
  });
});
