import { isIPv6 } from "node:net";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { serviceNameLabel, sliceAddresses } from "../../../runtime/adapters/kubernetes/stores/endpoint-addresses.ts";
import { cacheFunction, type FunctionWatch } from "../../../runtime/adapters/kubernetes/stores/cached-function.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { KubeEndpoints, type SliceWatch } from "../../../runtime/adapters/kubernetes/stores/kube-endpoints.ts";
import type { FunctionObject } from "../../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import { functionObjectOf } from "../../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { objectName } from "../../../runtime/adapters/kubernetes/manifests/object-names.ts";
import { fixedNamespaces } from "../../../runtime/adapters/kubernetes/watch/namespace-set.ts";
import { NamespacedWatch } from "../../../runtime/adapters/kubernetes/watch/namespaced-watch.ts";
import { functionLabel } from "../../../runtime/api/names.ts";
import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import type { FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import type { EndpointsPublisher, FunctionEndpoints } from "../../../runtime/core/ports/endpoints.ts";
import { endpointsWatchContract } from "../../contract/endpoints.contract.ts";
import { eventually } from "../../support/eventually.ts";
import { functionKinds, openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";
import { followCluster, functionRights } from "../../support/process-rights.ts";

let fixture: KubeFixture;
let worker: KubeClient;
let namespace: string;

beforeAll(async () => {
  fixture = await openKubeFixture();
  worker = await fixture.clientOf("queue-worker", functionRights["queue-worker"], followCluster);
  [namespace] = fixture.namespaces;
});
afterAll(() => fixture?.close());

interface Endpoint {
  readonly addresses: readonly string[];
  readonly targetRef?: { readonly kind: string; readonly name: string };
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
}

/** Writes what the controllers of Kubernetes and the operator write. */
const slices = {
  async put(name: string, of: string, endpoints: readonly Endpoint[] | null, port = 8080, service = objectName(of)) {
    const family = isIPv6(endpoints?.[0]?.addresses[0] ?? "") ? "IPv6" : "IPv4";
    await fixture.cluster.apply(sliceObject(name, of, { addressType: family, endpoints, ports: [{ port }] }, service));
  },
  async drop(name: string) {
    await fixture.admin.delete(kinds.endpointSlice, { namespace, name });
  },
};

function sliceObject(name: string, of: string, rest: object, service: string) {
  const labels = { [functionLabel]: of, [serviceNameLabel]: service };
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: { name, labels }, ...rest };
}

const ready = (...addresses: readonly string[]): readonly Endpoint[] =>
  addresses.map((address) => ({ addresses: [address], conditions: { ready: true } }));

async function makeFunction(ref: FunctionRef, generation: number): Promise<void> {
  const desired = desireFunction(undefined, namespace, { service: ref.name, image: "none" }, new Date().toISOString());
  await fixture.admin.create(kinds.function, functionObjectOf({ ...desired, generation }));
}

async function report(ref: FunctionRef, conditions: FunctionEndpoints["conditions"]): Promise<void> {
  const place = { namespace: ref.namespace, name: ref.name };
  const object = await fixture.admin.get<FunctionObject>(kinds.function, place);
  const status = { observedGeneration: object.metadata.generation ?? 0, conditions };
  const named = { metadata: place, status };
  await fixture.admin.apply(kinds.function, named, { ...place, subresource: "status" }, { force: true });
}

/** Writes what controllers and the operator would write for functions and their pods. */
const publisher: EndpointsPublisher = {
  async publish(entry) {
    const place = { namespace: entry.namespace, name: entry.name };
    for (const [index, address] of entry.addresses.entries()) {
      const colon = address.lastIndexOf(":");
      const host = address.slice(0, colon).replaceAll(/[[\]]/g, "");
      const targetRef = { kind: "Pod", name: entry.names?.[address] ?? "" };
      const endpoints = ready(host).map((endpoint) => ({ ...endpoint, targetRef }));
      await slices.put(`${entry.name}-${index}`, entry.name, endpoints, Number(address.slice(colon + 1)));
    }
    if ((await fixture.admin.find(kinds.function, place)) !== undefined) return;
    await makeFunction(entry, entry.observedGeneration);
    await report(entry, entry.conditions);
  },
  async remove({ name }) {
    await fixture.admin.delete(kinds.function, { namespace, name });
  },
  list: async () => [],
};

function open() {
  const where = fixedNamespaces(...fixture.namespaces);
  const functions: FunctionWatch = new NamespacedWatch(worker, kinds.function, where, { keep: cacheFunction });
  const watch: SliceWatch = new NamespacedWatch(worker, kinds.endpointSlice, where, {
    keep: sliceAddresses,
    labelSelector: functionLabel,
  });
  const isKnown = async (): Promise<boolean> => {
    const place = { namespace };
    const [objects, listed] = await Promise.all([
      fixture.admin.listPage<FunctionObject>(kinds.function, place),
      fixture.admin.listPage(kinds.endpointSlice, place, { labelSelector: functionLabel }),
    ]);
    const reported = objects.items.every(
      ({ metadata: { name } }) => functions.find(namespace, name)?.reported !== undefined,
    );
    return reported && listed.items.length === [...watch.entries()].length;
  };
  return {
    endpoints: new KubeEndpoints(functions, watch),
    publisher,
    namespaces: fixture.namespaces,
    caughtUp: async () => {
      await eventually(isKnown, { what: "the watches" });
    },
    close: async () => {
      await Promise.all([functions.close(), watch.close()]);
      await fixture.empty(...functionKinds);
    },
  };
}

describe("KubeEndpoints", () => endpointsWatchContract(async () => open()));

/** Records the addresses of one function. */
async function watchAddresses(name: string) {
  const opened = open();
  const seen: string[] = [];
  const stop = await opened.endpoints.watch({
    set: (entry) => entry.name === name && seen.push([...entry.addresses].sort().join(" ")),
    removed: (ref) => ref.name === name && seen.push("removed"),
    synced: () => {},
  });
  return {
    seen,
    until: async (last: string) => {
      await eventually(() => seen.at(-1) === last, { what: `"${last}" after "${seen.join('", "')}"` });
    },
    close: async () => {
      stop();
      await opened.close();
    },
  };
}

const f: FunctionRef = { namespace: "", name: "f" };

async function withFunction(
  body: (watched: Awaited<ReturnType<typeof watchAddresses>>) => Promise<void>,
): Promise<void> {
  const watched = await watchAddresses("f");
  try {
    await makeFunction({ ...f, namespace }, 1);
    await report({ ...f, namespace }, []);
    await watched.until("");
    await body(watched);
  } finally {
    await watched.close();
  }
}

test("pods that are terminating or not ready get no calls", () =>
  withFunction(async ({ until }) => {
    const not = { addresses: ["192.0.2.2"], conditions: { ready: false } };
    const leaving = { addresses: ["192.0.2.3"], conditions: { ready: false, serving: true, terminating: true } };
    const unreported = { addresses: ["192.0.2.4"] };
    await slices.put("f-1", "f", [...ready("192.0.2.1"), not, leaving, unreported]);
    await until("192.0.2.1:8080 192.0.2.4:8080");
    await slices.put("f-1", "f", [not, leaving]);
    await until("");
    await slices.put("f-1", "f", []);
    await slices.put("f-1", "f", ready("192.0.2.2"));
    await until("192.0.2.2:8080");
  }));

test("the addresses of several slices and both families are merged without duplicates", () =>
  withFunction(async ({ until }) => {
    await slices.put("f-1", "f", ready("192.0.2.1", "192.0.2.2"));
    await slices.put("f-2", "f", ready("192.0.2.2", "192.0.2.3"));
    await slices.put("f-6", "f", ready("2001:db8::1"));
    await until("192.0.2.1:8080 192.0.2.2:8080 192.0.2.3:8080 [2001:db8::1]:8080");
    await slices.drop("f-1");
    await until("192.0.2.2:8080 192.0.2.3:8080 [2001:db8::1]:8080");
  }));

test("a slice of another Service, or without ports or endpoints, adds nothing", () =>
  withFunction(async ({ seen, until }) => {
    await slices.put("foreign", "f", ready("192.0.2.66"), 8080, "theirs");
    const bare = { addressType: "IPv4", endpoints: ready("192.0.2.7") };
    await fixture.cluster.apply(sliceObject("bare", "f", bare, "f"));
    await fixture.admin.create(kinds.endpointSlice, {
      ...sliceObject("null", "f", { addressType: "IPv4", endpoints: null, ports: null }, "f"),
      metadata: { name: "null", namespace, labels: { [functionLabel]: "f", [serviceNameLabel]: "f" } },
    });
    await slices.put("f-1", "f", ready("192.0.2.1"));
    await until("192.0.2.1:8080");
    expect(seen).toEqual(["", "192.0.2.1:8080"]);
    // The slice is assigned to another function.
    await slices.put("f-1", "g", ready("192.0.2.1"));
    await until("");
  }));

test("a recreated function is removed first, and then has the addresses of its new pods", () =>
  withFunction(async ({ seen, until }) => {
    await slices.put("f-1", "f", ready("192.0.2.1"));
    await until("192.0.2.1:8080");
    await publisher.remove({ ...f, namespace });
    await until("removed");
    await slices.drop("f-1");
    await slices.put("f-9", "f", ready("192.0.2.9"));
    await makeFunction({ ...f, namespace }, 1);
    await report({ ...f, namespace }, []);
    await until("192.0.2.9:8080");
    expect(seen).toEqual(["", "192.0.2.1:8080", "removed", "192.0.2.9:8080"]);
  }));

test("a name that Kubernetes would refuse for a Service is found by its slices too", async () => {
  const watched = await watchAddresses("1st");
  const ref = { namespace, name: "1st" };
  await makeFunction(ref, 1);
  await report(ref, []);
  await slices.put("fn-1st-1", "1st", ready("192.0.2.1"));
  await watched.until("192.0.2.1:8080");
  await watched.close();
});
