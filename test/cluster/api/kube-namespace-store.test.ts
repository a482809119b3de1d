import { randomBytes } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { KubeNamespaceStore } from "../../../runtime/adapters/kubernetes/stores/kube-namespace-store.ts";
import type { NamespaceEntry, NamespaceStore } from "../../../runtime/core/ports/namespace-store.ts";
import { namespaceStoreContract } from "../../contract/namespace-store.contract.ts";
import { eventually } from "../../support/eventually.ts";
import { openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";
import { namespaceRights } from "../../support/process-rights.ts";

let fixture: KubeFixture;
let gateway: KubeClient;

beforeAll(async () => {
  fixture = await openKubeFixture();
  gateway = await fixture.clientOf("gateway", [], namespaceRights);
});
afterAll(() => fixture?.close());

/** Ends a namespace that is being deleted, as the namespace controller does, which level api lacks. */
async function finalize(name: string): Promise<void> {
  if (fixture.cluster.level !== "api") return;
  const object = { metadata: { name }, spec: { finalizers: [] } };
  await fixture.admin.replace(kinds.namespace, object, { name, subresource: "finalize" }).catch(() => {});
}

async function open() {
  const real = new KubeNamespaceStore(gateway);
  const prefix = `weir-test-${randomBytes(4).toString("hex")}-`;
  const isMine = (name: string): boolean => name.startsWith(prefix);
  const made = new Set<string>();
  const store: NamespaceStore = {
    get: (name) => real.get(name),
    // Other namespaces belong to concurrent tests or to the cluster.
    list: async () => (await real.list()).filter(({ name }) => isMine(name)),
    write: (name, change) => {
      made.add(name);
      return real.write(name, change);
    },
    remove: async (name) => {
      const removal = real.remove(name);
      const isLeaving = async () => (await real.get(name))?.deleting !== false;
      await eventually(isLeaving, { what: "its deletion" });
      await finalize(name);
      await removal;
    },
    watch: (observer) =>
      real.watch({
        set: (entry) => isMine(entry.name) && observer.set(entry),
        removed: (name) => isMine(name) && observer.removed(name),
        synced: () => observer.synced(),
      }),
  };
  return {
    store,
    real,
    prefix,
    caughtUp: async () => {
      const names = async () => (await store.list()).map(({ name }) => name);
      const known = () => [...real.namespaces("always").names].filter(isMine).sort();
      await eventually(async () => (await names()).join() === known().join(), { what: "the watch" });
    },
    close: async () => {
      await real.close();
      for (const name of made) {
        await fixture.admin.delete(kinds.namespace, { name });
        await finalize(name);
      }
    },
  };
}

describe("KubeNamespaceStore", () => namespaceStoreContract(open));

const entry = (name: string, labels: NamespaceEntry["labels"] = {}): NamespaceEntry => ({
  name,
  labels: { "com.service.namespace": "1", ...labels },
  annotations: {},
  createdAt: "2026-01-01T00:00:00.000Z",
  deleting: false,
});

async function withStore(body: (opened: Awaited<ReturnType<typeof open>>) => Promise<void>): Promise<void> {
  const opened = await open();
  try {
    await body(opened);
  } finally {
    await opened.close();
  }
}

test("a namespace without the marker does not exist for Weir and is never changed", () =>
  withStore(async ({ real }) => {
    const name = fixture.cluster.namespace;
    const before = await fixture.admin.get(kinds.namespace, { name });
    expect(await real.get(name)).toBeUndefined();
    expect((await real.list()).map((each) => each.name)).not.toContain(name);
    await expect(real.write(name, () => entry(name))).rejects.toMatchObject({ code: "namespace_exists" });
    await real.remove(name);
    expect(await fixture.admin.get(kinds.namespace, { name })).toEqual(before);
  }));

test("a namespace marked by kubectl, with a label or annotation in either spelling, exists", () =>
  withStore(async ({ real }) => {
    const { kubectl, namespace: name } = fixture.cluster;
    for (const [kind, mark] of [
      ["label", "com.service.namespace=1"],
      ["annotate", "com.openfaas.namespace=1"],
      ["annotate", "openfaas=yes"],
    ] as const) {
      await kubectl([kind, "namespace", name, mark], { namespace: null });
      expect((await real.get(name))?.createdAt).toMatch(/Z$/);
      await eventually(() => real.namespaces("x").names.has(name), { what: "the watch" });
      await kubectl([kind, "namespace", name, `${mark.split("=")[0]}-`], { namespace: null });
      expect(await real.get(name)).toBeUndefined();
      await eventually(() => !real.namespaces("x").names.has(name), { what: "the watch" });
    }
  }));

test("keys of Kubernetes and of the platform are hidden, kept, and cannot be set", () =>
  withStore(async ({ real, store, prefix }) => {
    const name = `${prefix}keys`;
    await store.write(name, () => entry(name, { team: "blue" }));
    const labelsOf = async () => (await fixture.admin.get(kinds.namespace, { name })).metadata.labels;
    const before = await labelsOf();
    expect(before).toMatchObject({
      "pod-security.kubernetes.io/enforce": "restricted",
      "kubernetes.io/metadata.name": name,
      "app.kubernetes.io/managed-by": "weir",
    });
    expect((await real.get(name))?.labels).toEqual({ "com.service.namespace": "1", team: "blue" });
    await store.write(name, (current) => ({ ...entry(name, { team: "red" }), createdAt: current?.createdAt ?? "" }));
    expect(await labelsOf()).toEqual({ ...before, team: "red" });
    for (const key of ["pod-security.kubernetes.io/enforce", "kubernetes.io/metadata.name", "service.com/created-at"]) {
      const write = store.write(name, () => entry(name, { [key]: "privileged" }));
      await expect(write).rejects.toMatchObject({ code: "validation_failed" });
    }
    expect(await labelsOf()).toEqual({ ...before, team: "red" });
  }));

test("the set of namespaces holds those that are not being deleted, and always the default one", () =>
  withStore(async ({ real, store, prefix }) => {
    const [always, name] = [`${prefix}always`, `${prefix}dev`];
    const set = real.namespaces(always);
    await set.synced;
    const seen: string[] = [];
    const stop = set.listen((which, isThere) => {
      if (which.startsWith(prefix)) seen.push(`${which} ${isThere}`);
    });
    await store.write(name, () => entry(name));
    await store.write(always, () => entry(always));
    await eventually(() => set.names.has(name), { what: "it" });
    await store.write(name, (current) => ({ ...(current ?? entry(name)), deleting: true }));
    await eventually(() => !set.names.has(name), { what: "its deletion" });
    expect(seen).toEqual([`${name} true`, `${name} false`]);
    expect(set.names.has(always)).toBe(true);
    stop();
  }));

test("the default namespace exists without the marker and stays unchanged", () =>
  withStore(async () => {
    const name = fixture.cluster.namespace;
    const real = new KubeNamespaceStore(gateway, { defaultNamespace: name });
    expect(await real.get(name)).toMatchObject({ name, labels: {}, deleting: false });
    const before = await fixture.admin.get(kinds.namespace, { name });
    await real.write(name, (current) => current ?? entry(name));
    expect(await fixture.admin.get(kinds.namespace, { name })).toEqual(before);
    await real.close();
  }));

test("a new namespace is ready for the caller once the operator has granted the rights, and else refused", () =>
  withStore(async ({ store, prefix }) => {
    const real = new KubeNamespaceStore(gateway, { rightsWithin: 300 });
    const name = `${prefix}unbound`;
    const refused = { code: "provider_unavailable", message: expect.stringContaining("rights") };
    await expect(real.write(name, () => entry(name))).rejects.toMatchObject(refused);
    // Registers the namespace for removal.
    await store.write(name, (current) => ({ ...(current ?? entry(name)), labels: entry(name, { a: "b" }).labels }));
    await real.close();

    const able = new KubeNamespaceStore(fixture.admin, { rightsWithin: 300 });
    await store.write(`${prefix}bound`, () => entry(`${prefix}bound`));
    expect((await able.write(`${prefix}other`, () => entry(`${prefix}other`))).name).toBe(`${prefix}other`);
    await store.write(`${prefix}other`, (current) => current ?? entry(`${prefix}other`));
    await able.close();
  }));
