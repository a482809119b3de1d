import { beforeEach, expect, test } from "vitest";

import { MemoryFunctionStore } from "../../../support/memory/memory-function-store.ts";
import { MemoryNamespaceStore } from "../../../support/memory/memory-namespace-store.ts";
import { MemoryQueueCatalog } from "../../../support/memory/memory-queue-catalog.ts";
import { MemorySecretStore } from "../../../support/memory/memory-secret-store.ts";
import type { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import { deployFunction, type DeployParts } from "../../../../runtime/core/functions/deploy-function.ts";
import { NamespaceTable } from "../../../../runtime/core/namespaces/namespace-table.ts";
import { scaleByAlert } from "../../../../runtime/core/scaling/scale-by-alert.ts";
import { wakeReplicas } from "../../../../runtime/core/scaling/wake-replicas.ts";
import { scaleFunction } from "../../../../runtime/core/scaling/scale-function.ts";
import { sampleQueue } from "../../../contract/samples.ts";

const hello: FunctionDeployment = { service: "hello", image: "ghcr.io/acme/hello:1" };
const ref = { namespace: "functions", name: "hello" };
const first = Date.UTC(2026, 0, 1);
const code = (expected: string) => expect.objectContaining({ code: expected });

let functions: MemoryFunctionStore;
let secrets: MemorySecretStore;
let queues: MemoryQueueCatalog;
let namespaceStore: MemoryNamespaceStore;
let parts: DeployParts;

beforeEach(async () => {
  functions = new MemoryFunctionStore();
  secrets = new MemorySecretStore();
  queues = new MemoryQueueCatalog();
  namespaceStore = new MemoryNamespaceStore();
  const namespaceTable = new NamespaceTable();
  await namespaceStore.watch(namespaceTable.observer);
  const namespaces = {
    defaultNamespace: "functions",
    aliases: [],
    platformNamespace: "weir",
    reserved: [],
    edition: "enterprise",
    exists: (name: string) => namespaceTable.find(name) !== undefined,
  } as const;
  parts = {
    functions,
    secrets,
    queues,
    namespaces,
    namespaceStore,
    namespaceTable,
    edition: "enterprise",
    upstreamTimeout: 30_000,
    timeoutMax: 3_600_000,
  };
});

test("a new function is stored with its minimum; deployed again it keeps its creation time and rolls", async () => {
  const created = await deployFunction(hello, "create", parts, () => first);
  expect(created).toMatchObject({ ...ref, replicas: 1, generation: 1, createdAt: "2026-01-01T00:00:00.000Z" });
  const replaced = await deployFunction(hello, "replace", parts, () => first + 1_000);
  expect(replaced).toMatchObject({
    generation: 2,
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:01.000Z",
  });
  expect(await functions.get(ref)).toEqual(replaced);
});

test("a folder is stored where the provider takes it, else refused", async () => {
  const inFolder = { ...hello, annotations: { "com.service.local.folder": "/srv/hello" } };
  await expect(deployFunction(inFolder, "replace", parts)).rejects.toEqual(code("validation_failed"));
  const folderFault = (path: string) => Promise.resolve(path === "/srv/hello" ? undefined : "it does not exist");
  await deployFunction(inFolder, "replace", { ...parts, folderFault });
  const gone = { ...hello, annotations: { "com.service.local.folder": "/srv/gone" } };
  await expect(deployFunction(gone, "replace", { ...parts, folderFault })).rejects.toThrow(
    'Cannot deploy function "hello": it does not exist',
  );
  expect((await functions.get(ref))?.deployment).toMatchObject(inFolder);
});

test("create refuses a function that exists, and leaves it as it is", async () => {
  const created = await deployFunction(hello, "create", parts);
  await expect(deployFunction(hello, "create", parts)).rejects.toThrow(
    'Cannot create function "hello": it already exists',
  );
  await expect(deployFunction(hello, "create", parts)).rejects.toEqual(code("function_exists"));
  expect(await functions.get(ref)).toEqual(created);
});

test("secrets of a function must exist in its namespace", async () => {
  await secrets.create({ namespace: "functions", name: "a" }, Buffer.from("x"));
  await secrets.create({ namespace: "other", name: "b" }, Buffer.from("x"));
  await deployFunction({ ...hello, secrets: ["a"] }, "create", parts);
  await expect(deployFunction({ ...hello, secrets: ["a", "b"] }, "replace", parts)).rejects.toThrow(
    'Cannot deploy function "hello": secret "b" does not exist in namespace "functions"',
  );
  const none = { ...parts, secrets: undefined };
  await expect(deployFunction({ ...hello, secrets: ["a"] }, "replace", none)).rejects.toEqual(
    code("validation_failed"),
  );
  await expect(deployFunction(hello, "replace", none)).resolves.toMatchObject({ generation: 2 });
});

test("exec_timeout is checked against the function's own queue, or synchronous calls", async () => {
  const slow = {
    ...hello,
    envVars: { exec_timeout: "10m" },
    annotations: { "com.service.queue": "slow" },
  };
  await expect(deployFunction(slow, "create", parts)).rejects.toEqual(code("validation_failed"));
  await queues.put(sampleQueue({ name: "default", timeout: 600_000 }));
  await expect(deployFunction(slow, "create", parts)).rejects.toEqual(code("validation_failed"));
  await expect(deployFunction(slow, "create", { ...parts, queues: undefined })).rejects.toEqual(
    code("validation_failed"),
  );
  await queues.put(sampleQueue({ name: "slow", timeout: 600_000 }));
  await expect(deployFunction(slow, "create", parts)).resolves.toBeDefined();
});

test("a function's timeout may be as long as timeout_max, and exec_timeout as long as that", async () => {
  const slow = { ...hello, envVars: { exec_timeout: "10m" }, annotations: { "com.service.timeout": "10m" } };
  await expect(deployFunction(slow, "create", parts)).resolves.toBeDefined();
  await expect(deployFunction(slow, "replace", { ...parts, timeoutMax: 599_999 })).rejects.toThrow(
    'Cannot deploy function "hello": com.service.timeout 10m is above timeout_max (9m59s999ms), a setting of the gateway',
  );
});

test("fields are judged before the edition, the edition before secrets", async () => {
  const community = { ...parts, edition: "community" } as const;
  const annotations = { "com.service.queue": "slow" };
  await expect(deployFunction({ ...hello, service: "Hello", annotations }, "create", community)).rejects.toEqual(
    code("validation_failed"),
  );
  await expect(deployFunction({ ...hello, annotations, secrets: ["none"] }, "create", community)).rejects.toEqual(
    code("edition_limit"),
  );
});

test("a function stored in a namespace that was deleted meanwhile is removed again", async () => {
  const entry = { name: "dev", labels: {}, annotations: {}, createdAt: "2026-01-01T00:00:00.000Z", deleting: false };
  await namespaceStore.write("dev", () => entry);
  const inDev = { ...hello, namespace: "dev" };
  await deployFunction(inDev, "create", parts);
  const exists = () => true;
  await namespaceStore.write("dev", () => ({ ...entry, deleting: true }));
  const late = { ...parts, namespaces: { ...parts.namespaces, exists } };
  await expect(deployFunction(inDev, "replace", late)).rejects.toEqual(code("validation_failed"));
  expect(await functions.get({ namespace: "dev", name: "hello" })).toBeUndefined();
  await expect(deployFunction({ ...hello, namespace: "none" }, "create", parts)).rejects.toEqual(
    code("validation_failed"),
  );
});

test("a request may set replicas from zero to scale.max", async () => {
  await deployFunction({ ...hello, labels: { "com.service.scale.max": "4" } }, "create", parts);
  await scaleFunction(functions, ref, 4, 0, () => first);
  expect(await functions.get(ref)).toMatchObject({
    replicas: 4,
    scaled: { reason: "Requested", message: "Scaled to 4 by request", at: "2026-01-01T00:00:00.000Z" },
  });
  await scaleFunction(functions, ref, 0, 0);
  expect(await functions.get(ref)).toMatchObject({ replicas: 0 });
  await expect(scaleFunction(functions, ref, 5, 0)).rejects.toThrow(
    'Cannot scale function "hello" to 5 replicas: its label scale.max allows 4',
  );
  await expect(scaleFunction(functions, ref, 5, 0)).rejects.toEqual(code("validation_failed"));
  await expect(scaleFunction(functions, { ...ref, name: "none" }, 1, 0)).rejects.toThrow(
    'Cannot find function "none": it does not exist in namespace "functions"',
  );
});

test("a request sets no fewer replicas than scale.min, except 0, and desired state says so", async () => {
  await deployFunction({ ...hello, labels: { "com.service.scale.min": "2" } }, "create", parts);
  await scaleFunction(functions, ref, 0, 0);
  expect((await functions.get(ref))?.replicas).toBe(0);
  await scaleFunction(functions, ref, 1, 300_000, () => first);
  expect(await functions.get(ref)).toMatchObject({
    replicas: 2,
    scaled: { reason: "Requested", message: "Scaled to 2 by a request for 1: the label scale.min is 2" },
    hold: { by: "scale-function", until: "2026-01-01T00:05:00.000Z" },
  });
});

test("an alert adds a fifth of the maximum, rounded up, within the bounds; resolved sets the minimum", async () => {
  const labels = { "com.service.scale.min": "2", "com.service.scale.max": "11" };
  await deployFunction({ ...hello, labels }, "create", parts);
  const counts: (number | undefined)[] = [];
  for (const status of ["firing", "firing", "firing", "firing", "resolved"] as const) {
    await scaleByAlert(functions, ref, status, () => first);
    counts.push((await functions.get(ref))?.replicas);
  }
  expect(counts).toEqual([5, 8, 11, 11, 2]);
  expect((await functions.get(ref))?.scaled).toEqual({
    reason: "Alert",
    message: "An alert is resolved",
    at: "2026-01-01T00:00:00.000Z",
  });
  const most = { "com.service.scale.min": "9", "com.service.scale.max": "10" };
  await deployFunction({ ...hello, labels: most }, "replace", parts);
  await scaleFunction(functions, ref, 0, 0);
  await scaleByAlert(functions, ref, "firing");
  expect((await functions.get(ref))?.replicas).toBe(9);
  await expect(scaleByAlert(functions, { ...ref, name: "none" }, "firing")).rejects.toEqual(code("function_not_found"));
});

test("a count by request or by a firing alert is on hold until its end, or the next deployment", async () => {
  await deployFunction(hello, "create", parts);
  const hold = async () => (await functions.get(ref))?.hold;
  await scaleFunction(functions, ref, 3, 300_000, () => first);
  expect(await hold()).toEqual({ by: "scale-function", until: "2026-01-01T00:05:00.000Z" });
  await deployFunction(hello, "replace", parts);
  expect(await hold()).toBeUndefined();
  await scaleByAlert(functions, ref, "firing", () => first);
  expect(await hold()).toEqual({ by: "alert", until: "2026-01-01T01:00:00.000Z" });
  await scaleByAlert(functions, ref, "firing", () => first + 60_000);
  expect(await hold()).toEqual({ by: "alert", until: "2026-01-01T01:01:00.000Z" });
  await scaleByAlert(functions, ref, "resolved", () => first + 120_000);
  expect(await hold()).toBeUndefined();
  await scaleFunction(functions, ref, 3, 0, () => first);
  expect(await hold()).toBeUndefined();
  await scaleFunction(functions, ref, 0, 300_000, () => first);
  await wakeReplicas(functions, ref);
  expect(await hold()).toBeUndefined();
});

test("after another deployment replicas stay as they were, within the new bounds", async () => {
  const bounded = (min: number, max: number): FunctionDeployment => ({
    ...hello,
    labels: { "com.service.scale.min": String(min), "com.service.scale.max": String(max) },
  });
  await deployFunction(bounded(1, 10), "create", parts);
  await scaleFunction(functions, ref, 4, 0);
  const scaled = (await functions.get(ref))?.scaled;
  expect(await deployFunction(bounded(1, 10), "replace", parts)).toMatchObject({ replicas: 4, scaled });
  const lowered = await deployFunction(bounded(1, 3), "replace", parts);
  expect([lowered.replicas, lowered.scaled]).toEqual([3, undefined]);
  const raised = await deployFunction(bounded(5, 9), "replace", parts);
  expect([raised.replicas, raised.scaled]).toEqual([5, undefined]);
});
