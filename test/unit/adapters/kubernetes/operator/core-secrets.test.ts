import { afterEach, beforeEach, expect, test } from "vitest";

import { managedByWeir, objectLabel } from "../../../../../runtime/api/names.ts";
import { KubeClient } from "../../../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../../../runtime/adapters/kubernetes/client/kinds.ts";
import { fixedNamespaces } from "../../../../../runtime/adapters/kubernetes/watch/namespace-set.ts";
import { CoreSecrets } from "../../../../../runtime/adapters/kubernetes/operator/core-secrets.ts";
import { ListedSecrets } from "../../../../../runtime/adapters/kubernetes/operator/listed-secrets.ts";
import type { CoreSecret } from "../../../../../runtime/adapters/kubernetes/stores/secret-reference.ts";
import { openKubernetesApi, type KubernetesApi } from "../../../../support/kubernetes-api.ts";

const namespace = "functions";
let api: KubernetesApi;
let client: KubeClient;
let core: CoreSecrets;
let now: number;
let changes: string[];

beforeEach(async () => {
  api = await openKubernetesApi();
  client = new KubeClient(api.config, { fieldManager: "test" });
  now = 0;
  core = new CoreSecrets(client, () => now);
  changes = [];
  core.listen(({ name, isFirst }) => changes.push(isFirst ? `${name} first` : name));
});
afterEach(async () => {
  await client.close();
  await api.close();
});

function write(name: string, key: string, isLabelled = true): void {
  const labels = isLabelled ? { [objectLabel.managedBy]: managedByWeir } : {};
  const secret = { metadata: { namespace, name, labels }, type: "Opaque", data: { [key]: "Y2FuYXJ5" } };
  api.store.write(kinds.coreSecret, secret);
}

/** Requests since the last call of this function. */
function requests(): string[] {
  const seen = api.requests.splice(0);
  return seen.map(({ path, query }) =>
    `${path.replace(/^.*\/namespaces\//, "")} ${query.get("labelSelector") ?? ""}`.trim(),
  );
}

const list = "functions/secrets app.kubernetes.io/managed-by=weir";
const keys = async (name: string) => (await core.find(namespace, name))?.keys;

test("secrets with the label are one list per namespace, however many are needed; no value is kept", async () => {
  for (const name of ["a", "b", "c"]) write(name, "one");
  expect(await Promise.all(["a", "b", "c"].map(keys))).toEqual([["one"], ["one"], ["one"]]);
  now = 3_600_000;
  expect(await keys("a")).toEqual(["one"]);
  expect(requests()).toEqual([list]);
  expect(changes).toEqual(["a first", "b first", "c first"]);
  expect(JSON.stringify(await core.find(namespace, "a"))).not.toContain("Y2FuYXJ5");
});

test("a secret without the label is read when it is needed, and again after five minutes", async () => {
  write("foreign", "one", false);
  expect([await keys("foreign"), await keys("foreign")]).toEqual([["one"], ["one"]]);
  expect(requests()).toEqual([list, "functions/secrets/foreign"]);
  write("foreign", "two", false);
  now = 299_000;
  expect(await keys("foreign")).toEqual(["one"]);
  now = 301_000;
  expect(await keys("foreign")).toEqual(["two"]);
  expect(requests()).toEqual(["functions/secrets/foreign"]);
  expect(changes).toEqual(["foreign first", "foreign"]);
});

test("a missing secret is read again at the next look at the function that waits for it", async () => {
  expect(await keys("late")).toBeUndefined();
  write("late", "one", false);
  now = 5_000;
  expect(await keys("late")).toEqual(["one"]);
  expect(requests()).toEqual([list, "functions/secrets/late", "functions/secrets/late"]);
  expect(changes).toEqual(["late"]);
});

test("the next list reports what was created, changed and removed by hand meanwhile", async () => {
  for (const name of ["kept", "changed", "gone", "unlabelled"]) write(name, "one");
  await core.list(namespace);
  changes.length = 0;
  requests();
  write("changed", "two");
  write("new", "one");
  write("unlabelled", "one", false);
  api.store.remove("secrets", namespace, "gone");
  await core.list(namespace);
  expect(requests()).toEqual([list, "functions/secrets/gone", "functions/secrets/unlabelled"]);
  expect(changes.toSorted()).toEqual(["changed", "gone", "new first", "unlabelled"]);
  expect([await keys("gone"), await keys("unlabelled")]).toEqual([undefined, ["one"]]);
  expect(requests()).toEqual([]);
});

test("a secret that was written by request is read at once", async () => {
  write("a", "one");
  await keys("a");
  write("a", "two");
  core.expire(namespace, "a");
  expect(await keys("a")).toEqual(["two"]);
  expect(changes).toEqual(["a first", "a"]);
});

test.each<[what: string, data: Readonly<Record<string, string>>, fault: string | undefined]>([
  ["the value under its own name", { a: "k".repeat(32), other: "x" }, undefined],
  ["its only value", { other: `whsec_${Buffer.alloc(24).toString("base64")}` }, undefined],
  ["a value that is too short", { a: "canary" }, "it has 6 bytes, and 24 to 64 are needed"],
  ["several values of other names", { b: "x", c: "y" }, "it has 2 keys, and none of them has its name"],
  ["no value", {}, "it has 0 keys, and none of them has its name"],
])("says whether callbacks can be signed with it: %s", async (_what, data, fault) => {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  const secret: CoreSecret = { metadata: { namespace, name: "a" }, data: Object.fromEntries(encoded) };
  api.store.write(kinds.coreSecret, secret);
  expect((await core.find(namespace, "a"))?.signingFault).toBe(fault);
});

test("a namespace that may not be listed is an error, and is listed again", async () => {
  api.faults.refuse = () => ({ status: 403 });
  await expect(core.find(namespace, "a")).rejects.toThrow();
  api.faults.refuse = undefined;
  write("a", "one");
  expect(await keys("a")).toEqual(["one"]);
});

test("each namespace is listed at every resync, and never watched", async () => {
  write("a", "one");
  const listed = new ListedSecrets(core, fixedNamespaces(namespace));
  const changed: string[] = [];
  await listed.open((key) => changed.push(key));
  expect([changed, [...listed.keys()]]).toEqual([[namespace], [namespace]]);
  await listed.reconcile(namespace);
  await listed.reconcile("other");
  expect(requests()).toEqual([list]);
  expect(changes).toEqual(["a first"]);
  await listed.close();
});
