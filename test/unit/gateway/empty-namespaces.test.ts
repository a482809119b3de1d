import { afterEach, beforeEach, expect, test } from "vitest";

import { MemoryFunctionStore } from "../../support/memory/memory-function-store.ts";
import { MemoryKeptRequests } from "../../support/memory/memory-kept-requests.ts";
import { MemoryNamespaceStore } from "../../support/memory/memory-namespace-store.ts";
import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { FunctionTable } from "../../../runtime/core/replicas/function-table.ts";
import { NamespaceTable } from "../../../runtime/core/namespaces/namespace-table.ts";
import { emptyNamespaces } from "../../../runtime/gateway/empty-namespaces.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { sampleCall } from "../../contract/samples.ts";
import { eventually } from "../../support/eventually.ts";

/** Fails `failures` times. */
class FailingFunctionStore extends MemoryFunctionStore {
  failures = 0;
  override async remove(ref: { readonly namespace: string; readonly name: string }): Promise<boolean> {
    if (this.failures-- > 0) throw new Error("away");
    return await super.remove(ref);
  }
}

let functions: FailingFunctionStore;
let store: MemoryNamespaceStore;
let requests: MemoryKeptRequests;
let end: () => void = () => {};

const at = "2026-01-01T00:00:00.000Z";
const deploy = (namespace: string, name: string) =>
  functions.write({ namespace, name }, (current) =>
    desireFunction(current, namespace, { service: name, image: "none" }, at),
  );
const mark = (name: string) =>
  store.write(name, () => ({ name, labels: {}, annotations: {}, createdAt: at, deleting: true }));
const left = async (namespace: string): Promise<string[]> => (await functions.list(namespace)).map(({ name }) => name);
const empty = (namespace: string) =>
  eventually(async () => (await left(namespace)).length === 0, { what: `${namespace} to be empty` });

async function open(): Promise<void> {
  const [namespaces, table] = [new NamespaceTable(), new FunctionTable({ defaultNamespace: "functions", aliases: [] })];
  await store.watch(namespaces.observer);
  await functions.watch(table.functionObserver);
  end = emptyNamespaces({ namespaces, table, functions, requests, log: createLog("test", "silent"), retry: 5 });
}

beforeEach(async () => {
  functions = new FailingFunctionStore();
  store = new MemoryNamespaceStore();
  requests = new MemoryKeptRequests();
  for (const [namespace, name] of [
    ["dev", "a"],
    ["dev", "b"],
    ["functions", "a"],
  ] as const)
    await deploy(namespace, name);
});
afterEach(() => end());

test("deletes the functions of a namespace that is marked, and no others", async () => {
  await open();
  await mark("dev");
  await empty("dev");

  expect(await left("functions")).toEqual(["a"]);
});

test("continues where an earlier process stopped", async () => {
  await mark("dev");
  await open();
  await empty("dev");
});

test("retries when the store fails", async () => {
  functions.failures = 3;
  await open();
  await mark("dev");
  await empty("dev");
});

test("deletes a function that was written a moment too late", async () => {
  await open();
  await mark("dev");
  await empty("dev");
  await deploy("dev", "late");
  await empty("dev");
});

test("removes the requests that were kept of its calls, also after the broker was away", async () => {
  const ofA = (namespace: string) => ({ namespace, name: "a" });
  const [gone, stays] = [sampleCall({ function: ofA("dev") }), sampleCall({ function: ofA("functions") })];
  for (const call of [gone, stays]) await requests.put({ call, redacted: [] }, 60_000);
  requests.isThere = false;
  await open();
  await mark("dev");
  await empty("dev");
  requests.isThere = true;
  await eventually(async () => (await requests.find(gone.function, gone.id)) === undefined, { what: "the removal" });
  expect(await requests.find(stays.function, stays.id)).toBeDefined();
});

test("does nothing once it is ended", async () => {
  await open();
  end();
  await mark("dev");
  await mark("functions");

  expect(await left("dev")).toEqual(["a", "b"]);
});
