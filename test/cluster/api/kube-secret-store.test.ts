import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { KubeSecretStore } from "../../../runtime/adapters/kubernetes/stores/kube-secret-store.ts";
import {
  applySecretReference,
  secretReference,
  type CoreSecret,
  type ReferringSecret,
} from "../../../runtime/adapters/kubernetes/stores/secret-reference.ts";
import { managedByWeir, objectLabel } from "../../../runtime/api/names.ts";
import type { SecretRef } from "../../../runtime/core/ports/secret-store.ts";
import { secretStoreContract } from "../../contract/secret-store.contract.ts";
import { openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";
import { functionRights } from "../../support/process-rights.ts";

let fixture: KubeFixture;
let gateway: KubeClient;
/** The same, and it may also list a namespace that does not exist, where nobody can be bound. */
let listing: KubeClient;
let operator: KubeClient;
let store: KubeSecretStore;
let namespace: string;

beforeAll(async () => {
  fixture = await openKubeFixture();
  gateway = await fixture.clientOf("gateway", functionRights.gateway);
  const look = { apiGroups: ["service.com"], resources: ["secrets"], verbs: ["list"] };
  listing = await fixture.clientOf("seeing", functionRights.gateway, [look]);
  operator = await fixture.clientOf("operator", functionRights.operator);
  store = new KubeSecretStore(gateway);
  [namespace] = fixture.namespaces;
});
afterAll(() => fixture?.close());

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
const ours = { [objectLabel.managedBy]: managedByWeir };
const core = (ref: SecretRef) => fixture.admin.find<CoreSecret>(kinds.coreSecret, ref);
const reference = (ref: SecretRef) => fixture.admin.find<ReferringSecret>(kinds.secretReference, ref);

async function valueOf(ref: SecretRef): Promise<Uint8Array | undefined> {
  const [text] = Object.values((await core(ref))?.data ?? {});
  return text === undefined ? undefined : Buffer.from(text, "base64");
}

/** Does what the operator does for a core Secret without a reference. */
async function operate(ref: SecretRef): Promise<void> {
  const made = secretReference(await operator.get<CoreSecret>(kinds.coreSecret, ref));
  if (made !== undefined) await applySecretReference(operator, made);
}

describe("KubeSecretStore", () =>
  secretStoreContract(async () => ({
    store: new KubeSecretStore(listing),
    valueOf,
    namespaces: fixture.namespaces,
    close: () => fixture.empty(kinds.secretReference, kinds.coreSecret),
  })));

test("the account can read no core Secret, and a reference goes with its core Secret", async () => {
  const ref = { namespace, name: "unread" };
  await store.create(ref, bytes("canary"));
  const reads = [
    () => gateway.get(kinds.coreSecret, ref),
    () => gateway.listPage(kinds.coreSecret, ref),
    // The right to patch implies reading: the response to an empty patch is the object.
    () => gateway.patch(kinds.coreSecret, "merge", {}, ref),
    () => gateway.apply(kinds.coreSecret, { metadata: ref }, ref),
  ];
  for (const read of reads) {
    await expect(read()).rejects.toThrow(/forbidden/i);
  }
  const made = await core(ref);
  const named = await reference(ref);
  expect(made).toMatchObject({ type: "Opaque", metadata: { labels: ours }, data: { unread: expect.any(String) } });
  expect(named?.spec).toEqual({ secretRef: { name: "unread", uid: made?.metadata.uid }, keys: ["unread"] });
  expect(named?.metadata.ownerReferences).toEqual([
    { apiVersion: "v1", kind: "Secret", name: "unread", uid: made?.metadata.uid },
  ]);
  expect(JSON.stringify(named)).not.toContain(Buffer.from("canary").toString("base64"));
});

describe("secrets of others", () => {
  test("are invisible and never changed", async () => {
    const ref = { namespace, name: "foreign" };
    await fixture.cluster.kubectl(["create", "secret", "generic", "foreign", "--from-literal=key=theirs"]);
    await operate(ref);
    expect(await store.list(namespace)).not.toContain("foreign");
    await expect(store.replace(ref, bytes("x"))).rejects.toMatchObject({ code: "secret_not_found" });
    await expect(store.remove(ref)).rejects.toMatchObject({ code: "secret_not_found" });
    await expect(store.create(ref, bytes("x"))).rejects.toMatchObject({ code: "secret_exists" });
    await store.removeAll(namespace);
    expect(Buffer.from((await valueOf(ref)) ?? []).toString()).toBe("theirs");
  });

  test("with the platform's label are listed but cannot be changed when they have a type or an owner", async () => {
    const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner" } };
    await fixture.cluster.apply(config);
    const { metadata } = await fixture.admin.get(kinds.configMap, { namespace, name: "owner" });
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid };
    await fixture.cluster.apply(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "registry", labels: ours },
        type: "kubernetes.io/dockerconfigjson",
        stringData: { ".dockerconfigjson": "{}" },
      },
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "owned", labels: ours, ownerReferences: [owner] },
        stringData: { a: "theirs" },
      },
    );
    for (const name of ["registry", "owned"]) {
      const ref = { namespace, name };
      const before = await core(ref);
      await operate(ref);
      expect(await store.list(namespace)).toContain(name);
      await expect(store.replace(ref, bytes("x"))).rejects.toMatchObject({ code: "forbidden" });
      await expect(store.remove(ref)).rejects.toMatchObject({ code: "forbidden" });
      await store.removeAll(namespace);
      expect(await core(ref)).toEqual(before);
    }
  });

  test("that replaced one of Weir's are not touched", async () => {
    const ref = { namespace, name: "swapped" };
    await store.create(ref, bytes("ours"));
    await fixture.admin.delete(kinds.coreSecret, ref);
    await fixture.cluster.kubectl(["create", "secret", "generic", "swapped", "--from-literal=key=theirs"]);
    await expect(store.replace(ref, bytes("x"))).rejects.toMatchObject({ code: "secret_not_found" });
    // Where controllers run, the reference may have gone with the secret that it names.
    await store.remove(ref).catch((err: unknown) => expect(err).toMatchObject({ code: "secret_not_found" }));
    expect(await store.list(namespace)).not.toContain("swapped");
    expect(Buffer.from((await valueOf(ref)) ?? []).toString()).toBe("theirs");
  });
});

describe("several keys", () => {
  test("are listed, never replaced by one value, and removed together", async () => {
    const ref = { namespace, name: "several" };
    const stringData = { "a.crt": "1", "a.key": "2" };
    await fixture.cluster.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "several", labels: ours },
      stringData,
    });
    await operate(ref);
    expect((await reference(ref))?.spec.keys).toEqual(["a.crt", "a.key"]);
    await expect(store.replace(ref, bytes("x"))).rejects.toMatchObject({ code: "validation_failed" });
    expect(Object.keys((await core(ref))?.data ?? {})).toHaveLength(2);
    await store.remove(ref);
    expect(await core(ref)).toBeUndefined();
  });

  test("one key under another name is replaced under that name", async () => {
    const ref = { namespace, name: "renamed" };
    await fixture.cluster.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "renamed", labels: ours },
      stringData: { password: "old" },
    });
    await operate(ref);
    await store.replace(ref, bytes("new"));
    expect((await core(ref))?.data).toEqual({ password: Buffer.from("new").toString("base64") });
  });
});

describe("after an interrupted change", () => {
  test("a creation without a reference is completed by the operator", async () => {
    const ref = { namespace, name: "half-made" };
    const data = { "half-made": Buffer.from("x").toString("base64") };
    const made: CoreSecret = { metadata: { ...ref, labels: ours }, type: "Opaque", data };
    await gateway.create(kinds.coreSecret, made);
    expect(await store.list(namespace)).not.toContain("half-made");
    await operate(ref);
    expect(await store.list(namespace)).toContain("half-made");
    await store.replace(ref, bytes("new"));
    await store.remove(ref);
    expect(await core(ref)).toBeUndefined();
    expect(await reference(ref)).toBeUndefined();
  });

  test("a creation whose reference is refused leaves nothing", async () => {
    const rules = functionRights.gateway.filter(({ resources }) => resources.join() !== "secrets");
    const few = await fixture.clientOf("few", [
      ...rules,
      { apiGroups: [""], resources: ["secrets"], verbs: ["create", "delete"] },
    ]);
    const ref = { namespace, name: "refused" };
    await expect(new KubeSecretStore(few).create(ref, bytes("x"))).rejects.toThrow(/forbidden/i);
    expect(await core(ref)).toBeUndefined();
  });

  test("a removal of the core Secret alone can be repeated, and so can the creation", async () => {
    const ref = { namespace, name: "half-gone" };
    await store.create(ref, bytes("one"));
    await fixture.admin.delete(kinds.coreSecret, ref);
    await store.create(ref, bytes("two"));
    expect(Buffer.from((await valueOf(ref)) ?? []).toString()).toBe("two");
    expect((await reference(ref))?.spec.secretRef.uid).toBe((await core(ref))?.metadata.uid);
    expect((await reference(ref))?.metadata.ownerReferences).toHaveLength(1);
    await fixture.admin.delete(kinds.coreSecret, ref);
    // A garbage collector, where there is one, may have removed it first.
    await store.remove(ref).catch((err: unknown) => expect(err).toMatchObject({ code: "secret_not_found" }));
    expect(await reference(ref)).toBeUndefined();
    expect(await store.list(namespace)).not.toContain("half-gone");
  });
});

test("a namespace that does not exist is reported", async () => {
  const ref = { namespace: `${namespace}-never`, name: "x" };
  const create = new KubeSecretStore(fixture.admin).create(ref, bytes("x"));
  await expect(create).rejects.toMatchObject({ code: "namespace_not_found" });
});
