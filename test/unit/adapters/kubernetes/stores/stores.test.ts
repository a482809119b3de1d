import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { KubeClient } from "../../../../../runtime/adapters/kubernetes/client/client.ts";
import {
  cacheFunction,
  type FunctionWatch,
} from "../../../../../runtime/adapters/kubernetes/stores/cached-function.ts";
import { kinds } from "../../../../../runtime/adapters/kubernetes/client/kinds.ts";
import { isConflict } from "../../../../../runtime/adapters/kubernetes/client/kube-refusal.ts";
import { KubeEndpoints } from "../../../../../runtime/adapters/kubernetes/stores/kube-endpoints.ts";
import { sliceAddresses } from "../../../../../runtime/adapters/kubernetes/stores/endpoint-addresses.ts";
import { KubeFunctionStore } from "../../../../../runtime/adapters/kubernetes/stores/kube-function-store.ts";
import { KubeLeases } from "../../../../../runtime/adapters/kubernetes/stores/kube-leases.ts";
import { functionObjectOf } from "../../../../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { fixedNamespaces } from "../../../../../runtime/adapters/kubernetes/watch/namespace-set.ts";
import { NamespacedWatch } from "../../../../../runtime/adapters/kubernetes/watch/namespaced-watch.ts";
import { desireFunction } from "../../../../../runtime/core/functions/desired-function.ts";
import { eventually } from "../../../../support/eventually.ts";
import { openKubernetesApi, type KubernetesApi } from "../../../../support/kubernetes-api.ts";

const ref = { namespace: "functions", name: "f" };
let api: KubernetesApi;
let client: KubeClient;
let watch: FunctionWatch;

beforeEach(async () => {
  api = await openKubernetesApi();
  client = new KubeClient(api.config, { fieldManager: "test", firstDelay: 5, longestDelay: 20 });
  watch = new NamespacedWatch(client, kinds.function, fixedNamespaces("functions"), { keep: cacheFunction });
});
afterEach(async () => {
  await watch.close();
  await client.close();
  await api.close();
});

const desired = (image: string) =>
  desireFunction(undefined, "functions", { service: "f", image }, "2026-01-01T00:00:00.000Z");
const changes = (): number => api.requests.filter(({ method }) => method !== "GET").length;
const functions = (): KubeFunctionStore => new KubeFunctionStore(client, watch, "whole");

describe("KubeFunctionStore", () => {
  test("repeats a write that conflicts with another", async () => {
    await functions().write(ref, () => desired("a"));
    let left = 2;
    api.faults.refuse = ({ method }) => (method === "PUT" && left-- > 0 ? { status: 409 } : undefined);
    let decisions = 0;
    await functions().write(ref, () => {
      decisions += 1;
      return desired("b");
    });
    expect(decisions).toBe(3);
    expect((await functions().get(ref))?.deployment.image).toBe("b");
  });

  test("lists what it knew last while the API server is away, and says for how long", async () => {
    const store = functions();
    await store.write(ref, () => desired("a"));
    await watch.synced;
    await eventually(() => watch.find("functions", "f"), { what: "the function" });
    expect((await store.list("functions")).staleFor).toBeUndefined();
    api.faults.refuse = () => ({ status: 503 });
    const listed = await store.list("functions");
    expect(listed.map(({ deployment }) => deployment.image)).toEqual(["a"]);
    expect(listed.staleFor).toBeGreaterThanOrEqual(0);
    expect(await store.list("other")).toHaveLength(0);
    await expect(store.get(ref)).rejects.toMatchObject({ code: "provider_unavailable" });
    // A refusal for good is none of that.
    api.faults.refuse = () => ({ status: 403 });
    await expect(store.list("functions")).rejects.toThrow();
  });

  test("a write whose response is lost is not done twice", async () => {
    let lost = false;
    api.faults.loseAnswer = ({ method }) => method !== "GET" && !lost && (lost = true);
    expect((await functions().write(ref, () => desired("a"))).deployment.image).toBe("a");
    lost = false;
    const again = await functions().write(ref, (current) => ({
      ...(current ?? desired("x")),
      ...desired("b"),
      generation: 2,
    }));
    expect(again).toMatchObject({ generation: 2, deployment: { image: "b" } });
    expect((await functions().get(ref))?.generation).toBe(2);
  });

  test("does not write what is so already", async () => {
    await functions().write(ref, () => desired("a"));
    const before = changes();
    await functions().write(ref, (current) => ({ ...(current ?? desired("x")), held: undefined }));
    expect(changes()).toBe(before);
  });

  test("reports no change of fields it does not read, and a recreated function as removed first", async () => {
    const events: string[] = [];
    await functions().write(ref, () => desired("a"));
    await watch.synced;
    await eventually(() => watch.find("functions", "f"), { what: "the function" });
    const stop = await functions().watch({
      set: ({ deployment }) => events.push(deployment.image),
      removed: () => events.push("removed"),
      synced: () => events.push("synced"),
    });
    await client.patch(kinds.function, "merge", { metadata: { labels: { x: "y" } } }, ref);
    await client.patch(kinds.function, "merge", { status: { replicas: 2 } }, ref);
    await client.patch(kinds.function, "merge", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }, ref);
    api.store.remove("functions", "functions", "f");
    api.store.write(kinds.function, functionObjectOf(desired("b")));
    await eventually(() => events.at(-1) === "b", { what: "the new one" });
    expect(events).toEqual(["a", "synced", "removed", "b"]);
    stop();
  });
});

test("endpoints are reported once the operator has written a status, and only when they change", async () => {
  const slices = new NamespacedWatch(client, kinds.endpointSlice, fixedNamespaces("functions"), {
    keep: sliceAddresses,
  });
  const events: string[] = [];
  const stop = await new KubeEndpoints(watch, slices).watch({
    set: ({ addresses, names, observedGeneration }) =>
      events.push(`${observedGeneration} ${addresses.map((each) => `${each} ${names?.[each]}`).join()}`),
    removed: () => events.push("removed"),
    synced: () => events.push("synced"),
  });
  const slice = (host: string, pod: string) => ({
    metadata: {
      namespace: "functions",
      name: "f-1",
      labels: { faas_function: "f", "kubernetes.io/service-name": "f" },
    },
    endpoints: [{ addresses: [host], targetRef: { kind: "Pod", name: pod } }],
    ports: [{ port: 8080 }],
  });
  api.store.write(kinds.endpointSlice, slice("192.0.2.1", "f-a"));
  await eventually(() => [...slices.entries()].length === 1, { what: "the slice" });
  api.store.write(kinds.function, functionObjectOf(desired("a")));
  await eventually(() => watch.find("functions", "f"), { what: "the function" });
  expect(events).toEqual(["synced"]);
  await client.patch(kinds.function, "merge", { status: { observedGeneration: 0 } }, ref);
  await client.patch(kinds.function, "merge", { status: { replicas: 1 } }, ref);
  api.store.write(kinds.endpointSlice, slice("192.0.2.1", "f-a"));
  api.store.write(kinds.endpointSlice, slice("192.0.2.1", "f-b"));
  api.store.write(kinds.endpointSlice, slice("192.0.2.2", "f-c"));
  await eventually(() => events.length === 4, { what: "all of them" });
  api.store.remove("functions", "functions", "f");
  api.store.remove("endpointslices", "functions", "f-1");
  await eventually(() => events.at(-1) === "removed", { what: "its end" });
  expect(events).toEqual(["synced", "1 192.0.2.1:8080 f-a", "1 192.0.2.1:8080 f-b", "1 192.0.2.2:8080 f-c", "removed"]);
  stop();
  await slices.close();
});

test("a lease that another renewed in between is not acquired, whatever was seen before", async () => {
  let now = 0;
  const clock = () => now;
  const [here, there] = [new KubeLeases(client, "weir", clock), new KubeLeases(client, "weir", clock)];
  expect(await here.acquire("x", "a", 1_000)).toBe(true);
  expect(await there.acquire("x", "b", 1_000)).toBe(false);
  now = 2_000;
  api.faults.refuse = ({ method }) => (method === "PUT" ? { status: 409 } : undefined);
  expect(await there.acquire("x", "b", 1_000)).toBe(false);
  api.faults.refuse = undefined;
  expect(await there.acquire("x", "b", 1_000)).toBe(true);
  await here.release("x", "a");
  expect(await here.acquire("x", "a", 1_000)).toBe(false);
});

test("a replacement whose response is lost is a conflict for those who may not read the outcome", async () => {
  const { metadata } = api.store.write(kinds.coreSecret, { metadata: { namespace: "functions", name: "key" } });
  let lost = 0;
  api.faults.loseAnswer = ({ method }) => method === "PUT" && ++lost === 1;
  api.faults.refuse = ({ method }) => (method === "GET" ? { status: 403 } : undefined);
  const replaced = client.replace(kinds.coreSecret, { metadata }, { namespace: "functions", name: "key" });
  await expect(replaced).rejects.toSatisfy(isConflict);
  expect(lost).toBe(2);
});
