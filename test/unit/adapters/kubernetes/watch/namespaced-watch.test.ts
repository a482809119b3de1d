import { afterEach, beforeEach, expect, test } from "vitest";

import { namespaceMarker } from "../../../../../runtime/api/names.ts";
import { KubeClient } from "../../../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../../../runtime/adapters/kubernetes/client/kinds.ts";
import { KubeNamespaceStore } from "../../../../../runtime/adapters/kubernetes/stores/kube-namespace-store.ts";
import type { KubeObject } from "../../../../../runtime/adapters/kubernetes/client/kube-types.ts";
import { fixedNamespaces, type NamespaceSet } from "../../../../../runtime/adapters/kubernetes/watch/namespace-set.ts";
import { NamespacedWatch } from "../../../../../runtime/adapters/kubernetes/watch/namespaced-watch.ts";
import { eventually } from "../../../../support/eventually.ts";
import { openKubernetesApi, type KubernetesApi } from "../../../../support/kubernetes-api.ts";

let api: KubernetesApi;
let client: KubeClient;
let store: KubeNamespaceStore | undefined;
let watch: NamespacedWatch<KubeObject, string> | undefined;

beforeEach(async () => {
  api = await openKubernetesApi();
  client = new KubeClient(api.config, { fieldManager: "test" });
});
afterEach(async () => {
  await watch?.close();
  await store?.close();
  store = undefined;
  await client.close();
  await api.close();
});

function namespace(name: string, isOurs = true): void {
  const labels = isOurs ? { [namespaceMarker.key]: namespaceMarker.value } : {};
  api.store.write(kinds.namespace, { metadata: { name, labels } });
}

function write(where: string, name: string): void {
  api.store.write(kinds.function, { metadata: { namespace: where, name } });
}

/** Collects changes as `+dev/a` and `-dev/a`. */
async function open(namespaces: NamespaceSet): Promise<string[]> {
  watch = new NamespacedWatch(client, kinds.function, namespaces, { keep: ({ metadata: { name = "" } }) => name });
  await watch.synced;
  const changes: string[] = [];
  watch.listen(({ key, after }) => changes.push(`${after === undefined ? "-" : "+"}${key}`));
  return changes;
}

function many(): NamespaceSet {
  store = new KubeNamespaceStore(client);
  return store.namespaces("functions");
}

const known = (): string[] => [...(watch?.entries() ?? [])].map(([key]) => key).toSorted();
const paths = (): string[] => [...new Set(api.requests.map(({ path }) => path))].toSorted();

test("many namespaces need one list and one watch of the cluster", async () => {
  for (let index = 0; index < 50; index += 1) {
    namespace(`team-${index}`);
    write(`team-${index}`, "f");
  }
  write("functions", "f");
  write("foreign", "f");
  await open(many());
  await eventually(() => api.watching === 2, { what: "the watches of namespaces and of functions" });
  expect(known()).toHaveLength(51);
  expect(watch?.find("team-7", "f")).toBe("f");
  expect(watch?.find("foreign", "f")).toBeUndefined();
  expect(paths()).toEqual(["/api/v1/namespaces", "/apis/service.com/v1/functions"]);
  expect(api.requests).toHaveLength(4);
});

test("one namespace is watched by itself: no right in the whole cluster is needed", async () => {
  write("functions", "f");
  write("foreign", "f");
  const changes = await open(fixedNamespaces("functions"));
  await eventually(() => api.watching === 1, { what: "the watch" });
  expect([known(), paths()]).toEqual([["functions/f"], ["/apis/service.com/v1/namespaces/functions/functions"]]);
  write("functions", "g");
  await eventually(() => changes.length > 0, { what: "the new one" });
  expect(changes).toEqual(["+functions/g"]);
});

test("objects are reported as new when their namespace is marked, and as gone when it is unmarked", async () => {
  namespace("team", false);
  write("team", "f");
  const changes = await open(many());
  expect(known()).toEqual([]);
  namespace("team");
  await eventually(() => changes.length === 1, { what: "the object of the namespace" });
  expect([changes, known()]).toEqual([["+team/f"], ["team/f"]]);
  namespace("team", false);
  await eventually(() => changes.length === 2, { what: "its end" });
  write("team", "g");
  write("functions", "last");
  await eventually(() => changes.length === 3, { what: "an object of another namespace" });
  expect([changes, known()]).toEqual([["+team/f", "-team/f", "+functions/last"], ["functions/last"]]);
  namespace("team");
  await eventually(() => changes.length === 5, { what: "both objects" });
  expect(changes.slice(3)).toEqual(["+team/f", "+team/g"]);
});

test("objects are not reported twice when their namespace only changes", async () => {
  namespace("team");
  write("team", "f");
  const changes = await open(many());
  namespace("team");
  write("functions", "f");
  await eventually(() => changes.length > 0, { what: "the object after it" });
  expect(changes).toEqual(["+functions/f"]);
});
