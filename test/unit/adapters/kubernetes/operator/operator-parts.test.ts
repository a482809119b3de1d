import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { KubeClient } from "../../../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../../../runtime/adapters/kubernetes/client/kinds.ts";
import type { KubeObject } from "../../../../../runtime/adapters/kubernetes/client/kube-types.ts";
import {
  defaultNamespaceSettings,
  namespaceObjects,
} from "../../../../../runtime/adapters/kubernetes/manifests/namespace-objects.ts";
import { fixedNamespaces } from "../../../../../runtime/adapters/kubernetes/watch/namespace-set.ts";
import { AppliedObjects, TakenError } from "../../../../../runtime/adapters/kubernetes/operator/apply-wanted.ts";
import { OperatedMisplaced } from "../../../../../runtime/adapters/kubernetes/operator/rules/operated-misplaced.ts";
import { OperatedNamespaces } from "../../../../../runtime/adapters/kubernetes/operator/operated-namespaces.ts";
import { OperatedSecrets } from "../../../../../runtime/adapters/kubernetes/operator/operated-secrets.ts";
import { PodsOfFunctions } from "../../../../../runtime/adapters/kubernetes/operator/pods-of-functions.ts";
import type { SecretChange, SecretShape } from "../../../../../runtime/adapters/kubernetes/operator/core-secrets.ts";
import { outlineText } from "../../../../../runtime/adapters/kubernetes/stores/secret-outline.ts";
import { secretReference } from "../../../../../runtime/adapters/kubernetes/stores/secret-reference.ts";
import { eventually } from "../../../../support/eventually.ts";
import { heardFailures } from "../../../../support/heard-failures.ts";
import { openKubernetesApi, type KubernetesApi } from "../../../../support/kubernetes-api.ts";

const namespace = "functions";
const within = { what: "the watch to know" };
const failures = heardFailures();
let api: KubernetesApi;
let client: KubeClient;

beforeEach(async () => {
  api = await openKubernetesApi();
  client = new KubeClient(api.config, { fieldManager: "test" });
});
afterEach(async () => {
  try {
    failures.none();
  } finally {
    await client.close();
    await api.close();
  }
});

/** Requests since the last call of this function, without watches. */
function requests(): string[] {
  const seen = api.requests.splice(0).filter(({ query }) => query.get("watch") !== "true");
  return seen.map(({ method, path }) => `${method} ${path.replace(/^.*\/namespaces\//, "")}`);
}

describe("AppliedObjects", () => {
  const owner = { name: "f", uid: "u1" };
  const wanted = {
    metadata: {
      namespace,
      name: "f",
      ownerReferences: [{ apiVersion: "service.com/v1", kind: "Function", ...owner, controller: true }],
    },
    spec: { replicas: 1, cpu: "1000m" },
  };

  test("no request when nothing differs, whatever else the API server added", async () => {
    const objects = new AppliedObjects(client);
    const made = await objects.make<KubeObject>(kinds.deployment, wanted, undefined, owner);
    expect(requests()).toEqual(["POST functions/deployments"]);
    const grown = { ...made, metadata: { ...made.metadata, generation: 1 }, status: { replicas: 1 } };
    expect(await objects.make<KubeObject>(kinds.deployment, wanted, grown, owner)).toBe(grown);
    expect(requests()).toEqual([]);
  });

  test("an object that the API server normalises is applied once, and again when either side changed", async () => {
    const objects = new AppliedObjects(client);
    const applied = () => requests().filter((request) => request.startsWith("PATCH"));
    const normalised = (generation: number) =>
      ({ metadata: { ...wanted.metadata, uid: "d1", generation }, spec: { replicas: 1, cpu: "1" } }) as KubeObject;
    api.store.write(kinds.deployment, { ...wanted, metadata: { ...wanted.metadata, generation: 1 } });
    const { metadata } = await objects.make<KubeObject>(kinds.deployment, wanted, normalised(0), owner);
    const seen = (generation: number) => ({ ...normalised(generation), metadata: { ...metadata, generation } });
    expect(applied()).toHaveLength(1);
    await objects.make(kinds.deployment, wanted, seen(1), owner);
    expect(requests()).toEqual([]);
    await objects.make(kinds.deployment, wanted, seen(2), owner);
    await objects.make(kinds.deployment, { ...wanted, spec: { replicas: 2 } } as KubeObject, seen(1), owner);
    expect(applied()).toHaveLength(2);
    objects.forget(kinds.deployment, { namespace, name: "f" });
    await objects.make(kinds.deployment, wanted, seen(1), owner);
    expect(applied()).toHaveLength(1);
  });

  test("the first change of a created object takes over its fields; scaling alone is applied at once", async () => {
    const objects = new AppliedObjects(client);
    const made = await objects.make<KubeObject>(kinds.deployment, wanted, undefined, owner);
    const fields = [{ manager: "test", operation: "Update", fieldsV1: { "f:spec": {} } }];
    const stored = api.store.write(kinds.deployment, {
      ...made,
      metadata: { ...made.metadata, managedFields: fields } as KubeObject["metadata"],
    });
    requests();
    const scaled = { ...wanted, spec: { ...wanted.spec, replicas: 2 } };
    const counted = await objects.make<KubeObject>(kinds.deployment, scaled, stored, owner);
    expect(requests()).toEqual(["PATCH functions/deployments/f"]);
    const changed = (cpu: string) => ({ ...scaled, spec: { ...scaled.spec, cpu } });
    const first = await objects.make<KubeObject>(kinds.deployment, changed("2"), counted, owner);
    expect(requests()).toEqual([
      "GET functions/deployments/f",
      "PATCH functions/deployments/f",
      "PATCH functions/deployments/f",
    ]);
    await objects.make<KubeObject>(kinds.deployment, changed("3"), first, owner);
    expect(requests()).toEqual(["PATCH functions/deployments/f"]);
  });

  test("an object that belongs to somebody else is left alone", async () => {
    const objects = new AppliedObjects(client);
    api.store.write(kinds.deployment, { metadata: { namespace, name: "f" } });
    await expect(objects.make(kinds.deployment, wanted, undefined, owner)).rejects.toThrow(TakenError);
    expect(requests()).toEqual(["POST functions/deployments", "GET functions/deployments/f"]);
  });

  test("an object that somebody else replaced since it was seen is left alone", async () => {
    const objects = new AppliedObjects(client);
    const seen = await objects.make<KubeObject>(kinds.deployment, wanted, undefined, owner);
    api.store.remove("deployments", namespace, "f");
    const theirs = api.store.write(kinds.deployment, { metadata: { namespace, name: "f" } });
    api.faults.refuse = ({ method }) => (method === "PATCH" ? { status: 422 } : undefined);
    const changed = { ...wanted, spec: { replicas: 2 } } as KubeObject;
    await expect(objects.make(kinds.deployment, changed, seen, owner)).rejects.toMatchObject({
      code: "provider_unavailable",
      message: 'Cannot apply Deployment "functions/f": it is gone, or was replaced meanwhile',
    });
    expect(api.store.get("deployments", namespace, "f")).toEqual(theirs);
  });
});

test("pods belong to the function that their label names now", () => {
  const pods = new PodsOfFunctions();
  const pod = (name: string, of?: string) => ({
    metadata: { namespace, name, ...(of === undefined ? {} : { labels: { faas_function: of } }) },
  });
  const names = (name: string) => pods.of({ namespace, name }).map(({ metadata }) => metadata.name);
  for (const name of ["a", "b"]) pods.change(`${namespace}/${name}`, pod(name, "f"));
  pods.change(`${namespace}/c`, pod("c"));
  expect([names("f"), names("g")]).toEqual([["a", "b"], []]);
  expect(pods.of({ namespace: "other", name: "f" })).toEqual([]);
  pods.change(`${namespace}/a`, pod("a", "g"));
  expect([names("f"), names("g")]).toEqual([["b"], ["a"]]);
  pods.change(`${namespace}/a`, pod("a"));
  pods.change(`${namespace}/b`, undefined);
  pods.change(`${namespace}/b`, undefined);
  expect([names("f"), names("g")]).toEqual([[], []]);
});

describe("OperatedSecrets", () => {
  const coreSecret = (keys: readonly string[]): SecretShape => {
    const metadata = { namespace, name: "key", uid: "s1", labels: { "app.kubernetes.io/managed-by": "weir" } };
    const data = Object.fromEntries(keys.map((key) => [key, ""]));
    return {
      uid: "s1",
      namespace,
      name: "key",
      type: "Opaque",
      keys,
      reference: secretReference({ metadata, type: "Opaque", data }),
      outline: outlineText(metadata, keys),
    };
  };

  test("a secret gets its object and its status once; there is no request when nothing differs", async () => {
    let shape: SecretShape | undefined = coreSecret(["one"]);
    const expired: string[] = [];
    let notice: ((change: SecretChange) => void) | undefined;
    const core = {
      listen: (listener: (change: SecretChange) => void) => {
        notice = listener;
        return () => {};
      },
      expire: (where: string, name: string) => void expired.push(`${where}/${name}`),
      find: () => Promise.resolve(shape),
    };
    const notified: string[] = [];
    const secrets = new OperatedSecrets(client, core, fixedNamespaces(namespace), failures.hear, () => 0);
    await secrets.open((key) => notified.push(key));
    const settle = async (count: number): Promise<string[]> => {
      await secrets.reconcile("functions/key");
      await eventually(() => notified.length === count, within);
      return requests();
    };
    requests();
    expect([notified, [...secrets.keys()]]).toEqual([[], []]);
    notice?.({ namespace, name: "key", isFirst: true });
    expect(notified).toEqual(["functions/key"]);
    expect(await settle(2)).toEqual(["PATCH functions/secrets/key"]);
    expect(await settle(3)).toEqual(["PATCH functions/secrets/key/status"]);
    expect(await settle(3)).toEqual([]);
    // Its own status is no reason to read the core secret again.
    expect([expired, [...secrets.keys()]]).toEqual([["functions/key"], ["functions/key"]]);
    expect(api.store.get("secrets", namespace, "key")).toMatchObject({
      status: { keys: ["one"], conditions: [{ status: "True", reason: "KeysFound" }] },
    });
    // Somebody changed the core secret: its outline is another.
    shape = { ...coreSecret(["one"]), outline: "another" };
    expect(await settle(4)).toEqual(["PATCH functions/secrets/key"]);
    expect(await settle(4)).toEqual([]);
    expect(api.store.get("secrets", namespace, "key")?.metadata.annotations).toEqual({
      "service.com/outline": "another",
    });
    // Of another core secret of that name, nothing is copied.
    shape = { ...coreSecret(["one"]), uid: "s2", outline: "foreign" };
    expect(await settle(5)).toEqual(["PATCH functions/secrets/key/status"]);
    shape = undefined;
    expect(await settle(6)).toEqual(["PATCH functions/secrets/key/status"]);
    expect(await settle(6)).toEqual([]);
    expect(api.store.get("secrets", namespace, "key")?.metadata.annotations).toEqual({
      "service.com/outline": "another",
    });
    expect(api.store.get("secrets", namespace, "key")).toMatchObject({
      status: { keys: [], conditions: [{ status: "False", reason: "SecretNotFound" }] },
    });
    await secrets.close();
  });
});

describe("OperatedNamespaces", () => {
  const settings = defaultNamespaceSettings("weir");
  const wanted = namespaceObjects(namespace, settings);

  test("a namespace gets its objects once, and again what was changed; no request when nothing differs", async () => {
    let notified = 0;
    const namespaces = new OperatedNamespaces(client, fixedNamespaces(namespace), settings, failures.hear);
    await namespaces.open(() => (notified += 1));
    await eventually(() => api.watching === 3, within);
    const settle = async (count: number): Promise<string[]> => {
      await namespaces.reconcile(namespace);
      await eventually(() => notified === count, within);
      return requests();
    };
    requests();
    expect(notified).toBe(1);
    expect(await settle(1 + wanted.length)).toHaveLength(wanted.length);
    expect(await settle(1 + wanted.length)).toEqual([]);
    expect(wanted.map(({ kind }) => kind)).not.toContain("RoleBinding");

    const next = new OperatedNamespaces(client, fixedNamespaces(namespace), settings, failures.hear);
    await next.open(() => {});
    requests();
    await next.reconcile(namespace);
    expect(requests(), "of an operator that starts later").toEqual([]);
    await next.close();

    api.store.remove("networkpolicies", namespace, "weir-deny");
    await eventually(() => notified === 2 + wanted.length, within);
    expect(await settle(3 + wanted.length)).toEqual(["PATCH functions/networkpolicies/weir-deny"]);
    expect(await settle(3 + wanted.length)).toEqual([]);
    await namespaces.reconcile("other");
    expect(requests()).toEqual([]);
    await namespaces.close();
  });
});

describe("a secret that is awaited", () => {
  test("is looked for again, and the time of its condition is that of the change", async () => {
    let now = 0;
    let shape: SecretShape | undefined;
    const expired: string[] = [];
    const core = {
      listen: () => () => {},
      expire: (where: string, name: string) => void expired.push(`${where}/${name}`),
      find: () => Promise.resolve(shape),
    };
    api.store.write(kinds.secretReference, {
      metadata: { namespace, name: "early", generation: 1 },
      spec: { secretRef: { name: "core" } },
    } as never);
    const secrets = new OperatedSecrets(client, core, fixedNamespaces(namespace), failures.hear, () => now);
    let changes = 0;
    await secrets.open(() => void changes++);
    const ready = (): object => {
      const { status } = api.store.get("secrets", namespace, "early") as {
        readonly status?: { readonly conditions?: readonly object[] };
      };
      return status?.conditions?.[0] ?? {};
    };
    const known = async (count: number): Promise<void> =>
      void (await eventually(() => changes === count, { what: "the watch to know" }));
    expect(await secrets.reconcile("functions/early")).toBe(5_000);
    await known(2);
    expect(expired).toEqual(["functions/core"]);
    const missing = { status: "False", reason: "SecretNotFound", lastTransitionTime: "1970-01-01T00:00:00.000Z" };
    expect(ready()).toMatchObject(missing);

    now = 60_000;
    shape = { uid: "s1", namespace, name: "core", type: "Opaque", keys: ["a"], reference: undefined, outline: "" };
    expect(await secrets.reconcile("functions/early")).toBeUndefined();
    await known(3);
    const found = { status: "True", lastTransitionTime: "1970-01-01T00:01:00.000Z" };
    expect(ready()).toMatchObject(found);

    // Another key is no change of what the condition says.
    now = 120_000;
    shape = { ...shape, keys: ["a", "b"] };
    await secrets.reconcile("functions/early");
    await known(4);
    expect(api.store.get("secrets", namespace, "early")).toMatchObject({ status: { keys: ["a", "b"] } });
    expect(ready()).toMatchObject(found);

    // One that nobody makes is not looked for all the time.
    shape = undefined;
    await secrets.reconcile("functions/early");
    await known(5);
    now += 700_000;
    expect(await secrets.reconcile("functions/early")).toBe(60_000);
    await secrets.close();
  });
});

describe("OperatedMisplaced", () => {
  test("an object that is read elsewhere alone says so, once", async () => {
    const misplaced = new OperatedMisplaced(client, fixedNamespaces(namespace), {
      kind: kinds.policy,
      conditions: ["Accepted", "Ready"],
      platformNamespace: "weir",
      onFailure: failures.hear,
    });
    api.store.write(kinds.policy, { metadata: { namespace, name: "deploy", generation: 2 }, spec: {} } as never);
    let changes = 0;
    await misplaced.open(() => void changes++);
    await misplaced.reconcile("functions/deploy");
    const because = {
      status: "False",
      reason: "WrongNamespace",
      message: 'It has no effect: objects of kind Policy are read in namespace "weir" alone',
    };
    expect(api.store.get("policies", namespace, "deploy")).toMatchObject({
      status: {
        observedGeneration: 2,
        conditions: [
          { type: "Accepted", ...because },
          { type: "Ready", ...because },
        ],
      },
    });
    await eventually(() => changes === 2, within);
    requests();
    await misplaced.reconcile("functions/deploy");
    expect(requests()).toEqual([]);
    await misplaced.close();
  });
});
