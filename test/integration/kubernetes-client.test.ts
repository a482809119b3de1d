import { text } from "node:stream/consumers";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { KubeClient, type KubeClientOptions } from "../../runtime/adapters/kubernetes/client/client.ts";
import type { ClusterConfig } from "../../runtime/adapters/kubernetes/client/cluster-config.ts";
import { kinds } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import type { KubeObject } from "../../runtime/adapters/kubernetes/client/kube-types.ts";
import { listObjects } from "../../runtime/adapters/kubernetes/client/list-objects.ts";
import { retryOnConflict } from "../../runtime/adapters/kubernetes/client/write-object.ts";
import { fixedToken } from "../../runtime/adapters/kubernetes/client/token-file.ts";
import { eventually } from "../support/eventually.ts";
import { openKubernetesApi, type KubernetesApi } from "../support/kubernetes-api.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const kind = kinds.configMap;
const place = { namespace: "dev", name: "a" };
const configMap = (name: string, data: Readonly<Record<string, string>> = {}): ConfigMap => ({
  metadata: { name, namespace: "dev" },
  data,
});

let api: KubernetesApi;
const opened: KubeClient[] = [];
beforeEach(async () => {
  api = await openKubernetesApi();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
  await api.close();
});

function open(options: Partial<KubeClientOptions> = {}, config: Partial<ClusterConfig> = {}): KubeClient {
  const fast = {
    fieldManager: "weir-test",
    firstDelay: 20,
    longestDelay: 100,
    retryWindow: 1_000,
  } satisfies Partial<KubeClientOptions>;
  const client = new KubeClient(
    { ...api.config, ...config },
    { ...fast, pace: { perSecond: 50, burst: 10 }, ...options },
  );
  opened.push(client);
  return client;
}

test("objects are created, read, listed in pages, changed, and deleted only if their uid matches", async () => {
  const client = open();
  const made = await client.create<ConfigMap>(kind, configMap("a", { x: "1" }));
  expect(await client.get(kind, place)).toEqual(made);
  expect(await client.find(kind, { ...place, name: "none" })).toBeUndefined();
  await client.patch(kind, "merge", { data: { y: "2" } }, place);
  await client.apply(kind, configMap("b"), { ...place, name: "b" }, { force: true });
  await client.create(kind, configMap("c"));
  const names = await listObjects(client, kind, { namespace: "dev", pageSize: 1 }, ({ metadata }) => metadata.name);
  expect(names).toEqual({ items: ["a", "b", "c"], resourceVersion: String(api.store.version) });
  await expect(client.delete(kind, place, { uid: "another" })).rejects.toMatchObject({
    refusal: { status: 409, reason: "Conflict" },
  });
  await client.delete(kind, place, { uid: made.metadata.uid ?? "" });
  await expect(client.get(kind, place)).rejects.toMatchObject({
    code: "internal_error",
    message: 'Cannot get ConfigMap "dev/a": not found',
    refusal: { status: 404, reason: "NotFound" },
  });
  const paths = api.requests.map(({ method, path, query }) => `${method} ${path} ${query.get("fieldManager") ?? ""}`);
  expect(paths[0]).toBe("POST /api/v1/namespaces/dev/configmaps weir-test");
  expect(paths).toContain("PATCH /api/v1/namespaces/dev/configmaps/b weir-test");
});

test("a list whose pages have expired at the server is read from the first again, and not for ever", async () => {
  const client = open();
  for (const name of ["a", "b", "c"]) api.store.write(kind, configMap(name));
  const list = () => listObjects(client, kind, { pageSize: 1 }, ({ metadata }) => metadata.name);
  api.faults.failPages = { times: 2, status: 410 };
  expect((await list()).items).toEqual(["a", "b", "c"]);
  api.faults.failPages = { times: 3, status: 410 };
  await expect(list()).rejects.toMatchObject({ refusal: { status: 410 } });
});

test("a page that times out is requested again as a smaller one, not the whole list", async () => {
  const client = open({ timeout: 1_000, attempts: 1 });
  const names = Array.from({ length: 250 }, (_, index) => `c-${1_000 + index}`);
  for (const name of names) api.store.write(kind, configMap(name));
  const limits = () => api.requests.map(({ query }) => query.get("limit"));
  const list = () => listObjects(client, kind, { pageSize: 100 }, ({ metadata }) => metadata.name);
  api.faults.delay = ({ query }) => (query.has("continue") && query.get("limit") === "100" ? 30_000 : 0);
  expect((await list()).items).toEqual(names);
  expect(limits()).toEqual(["100", "100", "50", "50", "50"]);
  api.faults.delay = () => 30_000;
  await expect(list()).rejects.toMatchObject({ code: "provider_unavailable" });
  expect(limits()).toHaveLength(6);
});

test("an object that changes meanwhile is read and changed again", async () => {
  const client = open();
  api.store.write(kind, configMap("a", { count: "0" }));
  const count = () =>
    retryOnConflict("count", async (options) => {
      const current = await client.get<ConfigMap>(kind, place, options);
      const data = { count: String(Number(current.data?.["count"]) + 1) };
      return client.replace(kind, { ...current, data } as ConfigMap, place);
    });
  await Promise.all([count(), count(), count()]);
  expect(api.store.get("configmaps", "dev", "a")).toMatchObject({ data: { count: "3" } });
});

describe("a lost response", () => {
  const lost = (method: string): void => {
    let times = 1;
    api.faults.loseAnswer = (request) => request.method === method && times-- > 0;
  };

  test("to a create that was done is recognised as ours", async () => {
    lost("POST");
    expect(await open().create(kind, configMap("a", { x: "1" }))).toMatchObject({ data: { x: "1" } });
    expect(api.requests.map(({ method }) => method)).toEqual(["POST", "POST", "GET"]);
  });

  test("to a create of an existing object is a refusal", async () => {
    // One that is the same but old, and one that is new but different.
    const old = { namespace: "dev", name: "a", creationTimestamp: "2020-01-01T00:00:00Z" };
    api.store.write(kind, { metadata: old, data: { x: "1" } } as ConfigMap);
    api.store.write(kind, configMap("b", { x: "another" }));
    const before = api.store.version;
    for (const name of ["a", "b"]) {
      let times = 2;
      api.faults.refuse = ({ method }) => (method === "POST" && times-- > 0 ? { status: 500 } : undefined);
      await expect(open().create(kind, configMap(name, { x: "1" }))).rejects.toMatchObject({
        refusal: { reason: "AlreadyExists" },
      });
    }
    expect(api.store.version).toBe(before);
  });

  test("to a create with a name that the server gives is not retried", async () => {
    lost("POST");
    const nameless = { metadata: { generateName: "a-", namespace: "dev" } };
    await expect(open().create(kind, nameless)).rejects.toMatchObject({ code: "provider_unavailable" });
    expect(api.requests).toHaveLength(1);
  });

  test("to a replace that was done is no conflict, and to a delete no failure", async () => {
    const { metadata } = api.store.write(kind, configMap("a", { x: "1" }));
    const changed: ConfigMap = { metadata, data: { x: "2" } };
    lost("PUT");
    const client = open();
    expect(await client.replace(kind, changed, place)).toMatchObject({
      data: { x: "2" },
    });
    lost("DELETE");
    await client.delete(kind, place);
    expect(api.store.list("configmaps")).toEqual([]);
  });
});

describe("a server that fails", () => {
  test("is retried after a status that allows it, and not before Retry-After", async () => {
    api.store.write(kind, configMap("a"));
    const refusals = [{ status: 429, retryAfter: 1 }, { status: 503 }, { status: 500 }];
    api.faults.refuse = () => refusals.shift();
    await open({ retryWindow: 5_000 }).get(kind, place);
    const [first, second, ...rest] = api.requests.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990);
    expect(rest).toHaveLength(2);
  });

  test("is given up after the last attempt, with its own message but without the token it repeats", async () => {
    api.faults.refuse = () => ({ status: 503, retryAfter: 0 });
    const client = open({ attempts: 3 }, { token: fixedToken("the-test") });
    const refusal = await client.get(kind, place).catch((err: unknown) => err);
    expect(refusal).toMatchObject({
      code: "provider_unavailable",
      message: 'Cannot get ConfigMap "dev/a": the test refuses it',
    });
    expect(api.requests).toHaveLength(3);
    expect(api.requests[0]?.authorization).toBe("Bearer the-test");
    const repeating = open({ attempts: 1 }, { token: fixedToken("refuses") });
    await expect(repeating.get(kind, place)).rejects.toThrow('Cannot get ConfigMap "dev/a": the test … it');
  });

  test("that refuses a token is retried once with the current token", async () => {
    api.store.write(kind, configMap("a"));
    let current = "old";
    const token = {
      current: () => Promise.resolve(current),
      refused: () => {
        current = "new";
      },
    };
    api.faults.refuse = ({ authorization }) => (authorization === "Bearer new" ? undefined : { status: 401 });
    await open({}, { token }).get(kind, place);
    await expect(open({}, { token: fixedToken("wrong") }).get(kind, place)).rejects.toMatchObject({
      refusal: { status: 401 },
    });
    expect(api.requests).toHaveLength(4);
  });

  test("that does not respond is given up at the timeout, or when the caller aborts", async () => {
    api.faults.hangs = true;
    const client = open({ timeout: 100, attempts: 2 });
    await expect(client.get(kind, place)).rejects.toThrow(
      'Cannot get ConfigMap "dev/a": the API server does not answer: no response came in time',
    );
    expect(api.requests).toHaveLength(2);
    // A request that waits for a connection does not wait longer either.
    const narrow = open({ timeout: 1_000, attempts: 1, connections: 1 });
    const startedAt = performance.now();
    await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => narrow.get(kind, place)));
    expect(performance.now() - startedAt).toBeLessThan(3 * 1_000);
    const stop = new AbortController();
    const asking = client.get(kind, place, { signal: stop.signal, timeout: 60_000 });
    stop.abort(new Error("the caller left"));
    await expect(asking).rejects.toThrow("the caller left");
  });

  test("behind a half-open connection is retried over another, within the caller's timeout", async () => {
    api.store.write(kind, configMap("a"));
    api.faults.hangs = true;
    const asking = open({ timeout: 60_000, retryWindow: 1_000 }).get(kind, place);
    await eventually(() => api.requests.length === 1, { what: "the first attempt" });
    api.faults.hangs = false;
    expect(await asking).toMatchObject({ metadata: place });
    expect(api.requests).toHaveLength(2);
  });

  test("that responds to others is slow, and not retried", async () => {
    for (const name of ["a", "b"]) api.store.write(kind, configMap(name));
    api.faults.hangs = true;
    const client = open({ timeout: 1_200, retryWindow: 1_000 });
    const asking = client.get(kind, place);
    asking.catch(() => {});
    await eventually(() => api.requests.length === 1, { what: "the slow one" });
    api.faults.hangs = false;
    await client.get(kind, { ...place, name: "b" });
    await expect(asking).rejects.toThrow("no response came in time");
    expect(api.requests).toHaveLength(2);
  });

  test("that is unavailable is retried, a create too, since nothing was sent", async () => {
    await api.down();
    const client = open({ attempts: 10 });
    const making = client.create(kind, configMap("a"));
    await expect(open({ attempts: 2 }).get(kind, place)).rejects.toThrow(/does not answer: .*ECONNREFUSED/);
    await api.up();
    await making;
    expect(api.store.list("configmaps")).toHaveLength(1);
  });

  test("whose response is too long is aborted", async () => {
    api.store.write(kind, configMap("a", { x: "x".repeat(2_000) }));
    await expect(open({ mostBytes: 1_000 }).get(kind, place)).rejects.toThrow("over the limit of 1000 bytes");
  });
});

test("a streamed response is passed on as it arrives", async () => {
  api.store.write(kind, configMap("a"));
  const stream = await open().open(kind, place, { follow: true, tailLines: undefined });
  expect(JSON.parse(await text(stream))).toMatchObject({ metadata: { name: "a" } });
  expect(api.requests[0]?.query.toString()).toBe("follow=true");
});
