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

/** All that is told, as `+dev/a` and `-dev/a`. */
async function open(namespaces: NamespaceSet): Promise<string[]> {
  watch = new NamespacedWatch(client, kinds.function, namespaces, { keep: ({ metadata: { name = "" } }) => name });
  await watch.synced;
  const told: string[] = [];
  watch.listen(({ key, after }) => told.push(`${after === undefined ? "-" : "+"}${key}`));
  return told;
}

function many(): NamespaceSet {
  store = new KubeNamespaceStore(client);
  return store.namespaces("functions");
}

const known = (): string[] => [...(watch?.entries() ?? [])].map(([key]) => key).toSorted();
const paths = (): string[] => [...new Set(api.requests.map(({ path }) => path))].toSorted();

test("many namespaces are one list and one watch of the cluster", async () => {
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

test("one namespace is watched by itself: nothing of the cluster need be readable", async () => {
  write("functions", "f");
  write("foreign", "f");
  const told = await open(fixedNamespaces("functions"));
  await eventually(() => api.watching === 1, { what: "the watch" });
  expect([known(), paths()]).toEqual([["functions/f"], ["/apis/service.com/v1/namespaces/functions/functions"]]);
  write("functions", "g");
  await eventually(() => told.length > 0, { what: "the new one" });
  expect(told).toEqual(["+functions/g"]);
});

test("objects are told as new when their namespace becomes one of functions, and as gone when it is none", async () => {
  namespace("team", false);
  write("team", "f");
  const told = await open(many());
  expect(known()).toEqual([]);
  namespace("team");
  await eventually(() => told.length === 1, { what: "the object of the namespace" });
  expect([told, known()]).toEqual([["+team/f"], ["team/f"]]);
  namespace("team", false);
  await eventually(() => told.length === 2, { what: "its end" });
  write("team", "g");
  write("functions", "last");
  await eventually(() => told.length === 3, { what: "an object of another namespace" });
  expect([told, known()]).toEqual([["+team/f", "-team/f", "+functions/last"], ["functions/last"]]);
  namespace("team");
  await eventually(() => told.length === 5, { what: "both objects" });
  expect(told.slice(3)).toEqual(["+team/f", "+team/g"]);
});

test("nothing is told of a namespace twice when it only changes", async () => {
  namespace("team");
  write("team", "f");
  const told = await open(many());
  namespace("team");
  write("functions", "f");
  await eventually(() => told.length > 0, { what: "the object after it" });
  expect(told).toEqual(["+functions/f"]);
});
