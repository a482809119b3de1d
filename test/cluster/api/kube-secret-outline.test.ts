import { afterAll, beforeAll, expect, test } from "vitest";

import type { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { KubeSecretStore } from "../../../runtime/adapters/kubernetes/stores/kube-secret-store.ts";
import { fixedNamespaces } from "../../../runtime/adapters/kubernetes/watch/namespace-set.ts";
import { CoreSecrets } from "../../../runtime/adapters/kubernetes/operator/core-secrets.ts";
import { OperatedSecrets } from "../../../runtime/adapters/kubernetes/operator/operated-secrets.ts";
import type { CoreSecret } from "../../../runtime/adapters/kubernetes/stores/secret-reference.ts";
import { objectAnnotation } from "../../../runtime/api/names.ts";
import type { SecretRef } from "../../../runtime/core/ports/secret-store.ts";
import { openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";
import { functionRights } from "../../support/process-rights.ts";

/** What others write to Weir's Secrets survives when an account that cannot read them replaces the values. */

let fixture: KubeFixture;
let store: KubeSecretStore;
let operated: OperatedSecrets;
let operator: KubeClient;
let namespace: string;
const errors: unknown[] = [];

beforeAll(async () => {
  fixture = await openKubeFixture();
  [namespace] = fixture.namespaces;
  store = new KubeSecretStore(await fixture.clientOf("gateway", functionRights.gateway));
  operator = await fixture.clientOf("operator", functionRights.operator);
  operated = new OperatedSecrets(operator, new CoreSecrets(operator), fixedNamespaces(namespace), (err) =>
    errors.push(err),
  );
  // One key after the other, as the operator's queue returns them.
  let done: Promise<unknown> = Promise.resolve();
  await operated.open((key) => {
    done = done.then(() => operated.reconcile(key)).catch((err: unknown) => errors.push(err));
  });
});
afterAll(async () => {
  await operated?.close();
  await fixture?.close();
  expect(errors).toEqual([]);
});

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
const core = (ref: SecretRef) => fixture.admin.get<CoreSecret>(kinds.coreSecret, ref);
const kubectl = (...words: readonly string[]) => fixture.cluster.kubectl(words);

async function valuesOf(ref: SecretRef): Promise<Record<string, string>> {
  const { data = {} } = await core(ref);
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]));
}

test("labels, annotations and finalizers of others survive, whenever they were written", async () => {
  const ref = { namespace, name: "annotated" };
  await store.create(ref, bytes("one"));
  await kubectl("label", "secret", ref.name, "team=blue");
  await kubectl("annotate", "secret", ref.name, "reloader.example.com/match=true");
  await store.replace(ref, bytes("two"));
  const finalizers = ["example.com/kept"];
  await fixture.admin.patch(kinds.coreSecret, "merge", { metadata: { finalizers } }, ref);
  await kubectl("label", "secret", ref.name, "team=red", "--overwrite");
  // The operator has seen neither change yet.
  await store.replace(ref, bytes("three"));
  await store.replace(ref, bytes("four"));
  const { metadata } = await core(ref);
  expect(metadata.labels).toEqual({ "app.kubernetes.io/managed-by": "weir", team: "red" });
  expect(metadata.annotations).toEqual({ "reloader.example.com/match": "true" });
  expect(metadata.finalizers).toEqual(finalizers);
  expect(await valuesOf(ref)).toEqual({ annotated: "four" });
  await fixture.admin.patch(kinds.coreSecret, "merge", { metadata: { finalizers: null } }, ref);
});

test("the copy of the values that kubectl keeps is removed with them, and is nowhere else", async () => {
  const ref = { namespace, name: "applied" };
  await store.create(ref, bytes("canary-one"));
  const data = { applied: Buffer.from("canary-two").toString("base64") };
  const metadata = { name: ref.name, namespace, labels: { "app.kubernetes.io/managed-by": "weir", team: "blue" } };
  const object = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata, data });
  await fixture.cluster.kubectl(["apply", "-f", "-"], { input: object });
  await store.replace(ref, bytes("canary-three"));
  const replaced = await core(ref);
  expect(replaced.metadata.labels).toMatchObject({ team: "blue" });
  expect(JSON.stringify(replaced)).not.toContain(data.applied);
  const reference = await fixture.admin.get(kinds.secretReference, ref);
  for (const text of ["canary-one", "canary-two", "canary-three"])
    expect(JSON.stringify(reference)).not.toContain(Buffer.from(text).toString("base64").replace(/=*$/, ""));
});

test("a key or an owner that was added later is noticed", async () => {
  const [keyed, owned] = [
    { namespace, name: "keyed" },
    { namespace, name: "owned" },
  ];
  for (const ref of [keyed, owned]) await store.create(ref, bytes("one"));
  await fixture.admin.patch(kinds.coreSecret, "merge", { data: { other: "" } }, keyed);
  await expect(store.replace(keyed, bytes("two"))).rejects.toMatchObject({ code: "validation_failed" });
  const reference = await fixture.admin.get(kinds.secretReference, keyed);
  const owner = { apiVersion: "service.com/v1", kind: "Secret", name: "keyed", uid: reference.metadata.uid };
  await fixture.admin.patch(kinds.coreSecret, "merge", { metadata: { ownerReferences: [owner] } }, owned);
  await expect(store.replace(owned, bytes("two"))).rejects.toMatchObject({ code: "forbidden" });
  expect(await valuesOf(keyed)).toEqual({ keyed: "one", other: "" });
  expect(await valuesOf(owned)).toEqual({ owned: "one" });
});

test("another Secret in its place is not changed, even without an outline", async () => {
  const ref = { namespace, name: "swapped" };
  await store.create(ref, bytes("ours"));
  // Without an owner the reference is not garbage-collected with the secret it names.
  await fixture.admin.patch(kinds.secretReference, "merge", { metadata: { ownerReferences: null } }, ref);
  await fixture.admin.delete(kinds.coreSecret, ref);
  await kubectl("create", "secret", "generic", ref.name, "--from-literal=key=theirs");
  const annotations = { [objectAnnotation.outline]: null };
  await fixture.admin.patch(kinds.secretReference, "merge", { metadata: { annotations } }, ref);
  await expect(store.replace(ref, bytes("x"))).rejects.toMatchObject({ code: "secret_not_found" });
  expect(await valuesOf(ref)).toEqual({ key: "theirs" });
});

test("a Secret that an older version wrote is replaced, too", async () => {
  const ref = { namespace, name: "older" };
  await store.create(ref, bytes("one"));
  const annotations = { [objectAnnotation.outline]: null };
  await fixture.admin.patch(kinds.secretReference, "merge", { metadata: { annotations } }, ref);
  await kubectl("label", "secret", ref.name, "team=blue");
  await store.replace(ref, bytes("two"));
  expect((await core(ref)).metadata.labels).toMatchObject({ team: "blue" });
});

test("of concurrent replacements one wins whole, and nothing of others is lost", async () => {
  const ref = { namespace, name: "contended" };
  await store.create(ref, bytes("0"));
  const second = new KubeSecretStore(await fixture.clientOf("gateway", functionRights.gateway));
  const label = (name: string) => kubectl("label", "secret", ref.name, `${name}=here`);
  await Promise.all([
    label("a"),
    store.replace(ref, bytes("1")),
    second.replace(ref, bytes("2")),
    label("b"),
    store.replace(ref, bytes("3")),
  ]);
  expect((await core(ref)).metadata.labels).toMatchObject({ a: "here", b: "here" });
  expect(["1", "2", "3"]).toContain((await valuesOf(ref))["contended"]);
});

test("without an operator nothing of others is lost: the replacement is refused", { timeout: 30_000 }, async () => {
  const [, elsewhere] = fixture.namespaces;
  const ref = { namespace: elsewhere, name: "unwatched" };
  await store.create(ref, bytes("one"));
  await store.replace(ref, bytes("two"));
  await fixture.cluster.kubectl(["label", "secret", ref.name, "team=blue"], { namespace: elsewhere });
  await expect(store.replace(ref, bytes("three"))).rejects.toMatchObject({ code: "provider_unavailable" });
  expect((await core(ref)).metadata.labels).toMatchObject({ team: "blue" });
  expect(await valuesOf(ref)).toEqual({ unwatched: "two" });
});
