import { beforeEach, describe, expect, test } from "vitest";

import { MemoryNamespaceStore } from "../../../support/memory/memory-namespace-store.ts";
import type { Edition } from "../../../../runtime/api/editions.ts";
import {
  confirmNamespace,
  createNamespace,
  deleteNamespace,
  ensureDefaultNamespace,
  namespaceNames,
  replaceNamespace,
  showNamespace,
  type NamespaceParts,
} from "../../../../runtime/core/namespaces/namespace-changes.ts";
import { NamespaceTable } from "../../../../runtime/core/namespaces/namespace-table.ts";

const marker = { "com.service.namespace": "1" };

let store: MemoryNamespaceStore;
let table: NamespaceTable;
let parts: NamespaceParts;

const partsOf = (edition: Edition, defaultNamespace = "functions"): NamespaceParts => ({
  namespaceStore: store,
  namespaceTable: table,
  namespaces: {
    defaultNamespace,
    aliases: ["openfaas-fn"],
    platformNamespace: "weir",
    reserved: ["kept"],
    edition,
    exists: (name) => table.find(name) !== undefined,
  },
});
const code = (expected: string) => expect.objectContaining({ code: expected });

beforeEach(async () => {
  store = new MemoryNamespaceStore();
  table = new NamespaceTable();
  await store.watch(table.observer);
  parts = partsOf("pro");
});

describe("createNamespace()", () => {
  test.each([
    ["nothing", {}, { labels: marker, annotations: {} }],
    ["other labels", { labels: { team: "a" } }, { labels: { team: "a", ...marker }, annotations: {} }],
    ["the marker as label", { labels: marker }, { labels: marker, annotations: {} }],
    ["the marker as annotation", { annotations: marker }, { labels: {}, annotations: marker }],
    [
      "the marker of the other family",
      { annotations: { openfaas: "yes" } },
      { labels: {}, annotations: { openfaas: "yes" } },
    ],
    [
      "the marker under the other prefix",
      { labels: { "com.openfaas.namespace": "1" } },
      { labels: { "com.openfaas.namespace": "1" }, annotations: {} },
    ],
  ])("with %s", async (_what, sent, shown) => {
    await createNamespace({ name: "dev", ...sent }, parts);

    expect(await showNamespace("dev", parts)).toEqual({ name: "dev", ...shown });
    expect(namespaceNames(parts)).toEqual(["dev", "functions"]);
  });

  test.each([
    ["functions", {}, "namespace_exists"],
    ["dev", {}, "namespace_exists"],
    ["weir", {}, "namespace_reserved"],
    ["kube-public", {}, "namespace_reserved"],
    ["default", {}, "namespace_reserved"],
    ["Dev", {}, "validation_failed"],
    ["qa", { labels: { "a b": "" } }, "validation_failed"],
    ["qa", { labels: { a: "a b" } }, "validation_failed"],
    ["qa", { labels: { "com.service.namespace": "0" } }, "validation_failed"],
  ])("%s with %j is %s", async (name, texts, expected) => {
    await createNamespace({ name: "dev" }, parts);

    await expect(createNamespace({ name, ...texts }, parts)).rejects.toEqual(code(expected));
    expect(namespaceNames(parts)).toEqual(["dev", "functions"]);
  });

  test("annotations of more than 256 KiB are refused", async () => {
    const annotations = { a: "x".repeat(262_144) };
    await expect(createNamespace({ name: "qa", annotations }, parts)).rejects.toEqual(code("validation_failed"));
  });

  test("the error says why a name is taken", async () => {
    await createNamespace({ name: "dev" }, parts);
    const sentence = (name: string) => createNamespace({ name }, parts).catch((err: Error) => err.message);
    expect(await sentence("dev")).toBe('Cannot create namespace "dev": it already exists');
    expect(await sentence("functions")).toBe('Cannot create namespace "functions": it is the default one');
  });

  test("with the name of an alias creates a real namespace, whose deletion restores the alias", async () => {
    expect((await showNamespace("openfaas-fn", parts)).name).toBe("functions");
    await createNamespace({ name: "openfaas-fn", labels: { real: "yes" } }, parts);

    expect(await showNamespace("openfaas-fn", parts)).toMatchObject({ name: "openfaas-fn", labels: { real: "yes" } });
    await deleteNamespace("openfaas-fn", parts);
    expect((await showNamespace("openfaas-fn", parts)).name).toBe("functions");
    await expect(deleteNamespace("openfaas-fn", parts)).rejects.toEqual(code("forbidden"));
  });
});

describe("replaceNamespace()", () => {
  test("replaces both maps, also of the default namespace and under its alias", async () => {
    await createNamespace({ name: "dev", labels: { a: "1" }, annotations: { b: "2" } }, parts);
    await replaceNamespace({ name: "dev", labels: { c: "3" } }, parts);
    await replaceNamespace({ name: "openfaas-fn", annotations: { d: "4" } }, parts);

    expect(await showNamespace("dev", parts)).toEqual({ name: "dev", labels: { c: "3", ...marker }, annotations: {} });
    expect(await showNamespace("functions", parts)).toMatchObject({ labels: marker, annotations: { d: "4" } });
    expect(namespaceNames(parts)).toEqual(["dev", "functions"]);
  });

  test("refuses a namespace that does not exist or is being deleted", async () => {
    await createNamespace({ name: "dev" }, parts);
    await deleteNamespace("dev", parts);

    for (const name of ["dev", "qa"])
      await expect(replaceNamespace({ name }, parts)).rejects.toEqual(code("namespace_not_found"));
  });
});

describe("deleteNamespace()", () => {
  test("hides it at once and keeps its name taken until its entry is gone", async () => {
    await createNamespace({ name: "dev" }, parts);
    await deleteNamespace("dev", parts);

    expect(namespaceNames(parts)).toEqual(["functions"]);
    await expect(showNamespace("dev", parts)).rejects.toEqual(code("namespace_not_found"));
    await expect(deleteNamespace("dev", parts)).rejects.toEqual(code("namespace_not_found"));
    await expect(createNamespace({ name: "dev" }, parts)).rejects.toThrow(
      'Cannot create namespace "dev": it is still being deleted',
    );
    await store.remove("dev");
    await createNamespace({ name: "dev" }, parts);
  });

  test("the default namespace cannot be deleted", async () => {
    await expect(deleteNamespace("functions", parts)).rejects.toEqual(code("forbidden"));
    await expect(deleteNamespace("functions", parts)).rejects.toThrow(
      'Cannot delete namespace "functions": it is the default one',
    );
  });
});

test("a namespace that another process deletes meanwhile is not found, although the watch has yet to say so", async () => {
  await createNamespace({ name: "dev" }, parts);
  const late = { ...parts, namespaces: { ...parts.namespaces, exists: () => true } };
  await deleteNamespace("dev", parts);
  const missing = expect.objectContaining({
    code: "namespace_not_found",
    message: 'Cannot find namespace "dev": it does not exist',
  });
  await expect(showNamespace("dev", late)).rejects.toEqual(missing);
  await expect(replaceNamespace({ name: "dev" }, late)).rejects.toEqual(missing);
  await expect(deleteNamespace("dev", late)).rejects.toEqual(missing);
});

test.each(["community", "standard"] as const)(
  "edition %s changes nothing and shows the default one",
  async (edition) => {
    await createNamespace({ name: "dev" }, parts);
    const one = partsOf(edition);

    for (const name of ["dev", "functions", "openfaas-fn"]) {
      for (const change of [
        () => createNamespace({ name }, one),
        () => replaceNamespace({ name }, one),
        () => deleteNamespace(name, one),
      ])
        await expect(change()).rejects.toEqual(code("edition_limit"));
    }
    await expect(deleteNamespace("kube-system", one)).rejects.toEqual(code("namespace_reserved"));
    await expect(showNamespace("dev", one)).rejects.toEqual(code("edition_limit"));
    expect(namespaceNames(one)).toEqual(["functions"]);
  },
);

test("a stored default namespace remains when another becomes the default", async () => {
  await ensureDefaultNamespace(parts);
  const stored = await store.get("functions");
  await ensureDefaultNamespace(parts);
  expect(await store.get("functions")).toBe(stored);
  await ensureDefaultNamespace(partsOf("pro", "work"));

  expect(namespaceNames(partsOf("pro", "work"))).toEqual(["functions", "work"]);
  await deleteNamespace("functions", partsOf("pro", "work"));
});

test("confirmNamespace() undoes a write into a namespace that is gone", async () => {
  let undone = 0;
  const undo = async (): Promise<void> => void (undone += 1);
  await createNamespace({ name: "dev" }, parts);
  for (const name of ["dev", "functions"]) await confirmNamespace(name, parts, undo);
  expect(undone).toBe(0);

  await deleteNamespace("dev", parts);
  for (const name of ["dev", "never"])
    await expect(confirmNamespace(name, parts, undo)).rejects.toEqual(code("validation_failed"));
  expect(undone).toBe(2);
});

test("until() waits for the watch, and no longer than the given time", async () => {
  const known = table.until(() => table.find("dev") !== undefined, 10_000);
  const never = table.until(() => table.find("qa") !== undefined, 20);
  const entry = { name: "dev", labels: {}, annotations: {}, createdAt: "2026-01-01T00:00:00Z", deleting: false };
  table.observer.set(entry);

  await known;
  await never;
  table.observer.set({ ...entry, deleting: true });
  expect([table.find("dev"), table.isDeleting("dev"), table.deleting()]).toEqual([undefined, true, ["dev"]]);
  const changes: string[] = [];
  table.onChange((name) => changes.push(name));
  table.observer.set({ ...entry, deleting: true, labels: { a: "b" } });
  expect(changes).toEqual([]);
  table.observer.removed("dev");
  expect(changes).toEqual(["dev"]);
  expect([table.isDeleting("dev"), table.deleting(), table.names()]).toEqual([false, [], []]);
});

test("a default namespace may have a name that would be reserved; it can be changed, but not deleted", async () => {
  const kept = partsOf("pro", "default");
  await expect(createNamespace({ name: "default" }, kept)).rejects.toEqual(code("namespace_exists"));
  await replaceNamespace({ name: "default", labels: { a: "1" } }, kept);
  expect(await showNamespace("default", kept)).toMatchObject({ name: "default", labels: { a: "1" } });
  await expect(deleteNamespace("default", kept)).rejects.toEqual(code("forbidden"));
});

test("errors name what was requested", async () => {
  await expect(createNamespace({ name: "dev" }, partsOf("community"))).rejects.toThrow(
    'Cannot change namespace "dev": edition "community" has only "functions", more need edition "pro"',
  );
  const wrong = { "com.service.namespace": "0" };
  await expect(createNamespace({ name: "dev", labels: wrong }, parts)).rejects.toThrow(
    'Cannot read label "com.service.namespace"',
  );
  await expect(createNamespace({ name: "dev", annotations: wrong }, parts)).rejects.toThrow(
    'Cannot read annotation "com.service.namespace"',
  );
});

test("a change resolves when the watch has reported it", async () => {
  const slow = new NamespaceTable();
  const late = { ...partsOf("pro"), namespaceTable: slow };
  late.namespaces = { ...late.namespaces, exists: (name) => slow.find(name) !== undefined };
  const entries: string[] = [];
  let deliver: () => void = () => {};
  await store.watch({
    set: (entry) => {
      deliver = () => {
        entries.push(entry.name);
        slow.observer.set(entry);
      };
    },
    removed: () => {},
    synced: () => {},
  });
  const over: string[] = [];
  const creating = createNamespace({ name: "dev" }, late).then(() => over.push("created"));
  await new Promise(setImmediate);
  expect(over).toEqual([]);
  deliver();
  await creating;
  const deleting = deleteNamespace("dev", late).then(() => over.push("deleted"));
  await new Promise(setImmediate);
  expect(over).toEqual(["created"]);
  deliver();
  await deleting;
  expect(entries).toEqual(["dev", "dev"]);
});

test("listeners are notified when a namespace begins to be deleted", () => {
  const changes: string[] = [];
  const entry = { name: "dev", labels: {}, annotations: {}, createdAt: "2026-01-01T00:00:00Z", deleting: false };
  const stopListening = table.onChange((name) => changes.push(name));
  for (const next of [entry, entry, { ...entry, deleting: true }]) table.observer.set(next);
  expect(changes).toEqual(["dev", "dev"]);
  stopListening();
  table.observer.removed("dev");
  expect(changes).toHaveLength(2);
});

test("until() waits through other changes, and listens no longer than it waits", async () => {
  const entry = { name: "dev", labels: {}, annotations: {}, createdAt: "2026-01-01T00:00:00Z", deleting: false };
  let checks = 0;
  let over = false;
  const isThere = (): boolean => {
    checks += 1;
    return table.find("qa") !== undefined;
  };
  const waiting = table.until(isThere, 10_000).then(() => (over = true));
  table.observer.set(entry);
  await new Promise(setImmediate);
  expect([over, checks]).toEqual([false, 2]);
  table.observer.set({ ...entry, name: "qa" });
  await waiting;
  const then = checks;
  table.observer.removed("dev");
  expect(checks).toBe(then);
  table.observer.set({ ...entry, name: "old", deleting: true });
  expect([table.names(), table.deleting()]).toEqual([["qa"], ["old"]]);
});
