import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { MemoryNamespaceStore } from "../support/memory/memory-namespace-store.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

const hello = { service: "hello", image: "example/hello:1" };
const marker = { "com.service.namespace": "1" };
const mutations = ["POST", "PUT", "DELETE"] as const;

let pro: RestPlatform;
let community: RestPlatform;
/** Shared by both, as when a data directory is opened again in another edition. */
let store: MemoryNamespaceStore;

beforeAll(async () => {
  store = new MemoryNamespaceStore();
  pro = await openRestPlatform({ edition: "pro", namespaceStore: store });
  community = await openRestPlatform({ edition: "community", namespaceStore: store });
});
afterAll(async () => {
  await pro?.[Symbol.asyncDispose]();
  await community?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const { name } of await store.list()) await store.remove(name);
  for (const platform of [pro, community]) {
    platform.functions.clear();
    platform.secrets.clear();
  }
});

async function callOn(platform: RestPlatform, method: string, path: string, body?: unknown) {
  const response = await platform.call(method, path, body, { accept: "application/json" });
  const text = await response.text();
  const value: unknown = text === "" ? undefined : JSON.parse(text);
  return { status: response.status, value };
}
const status = async (platform: RestPlatform, method: string, path: string, body?: unknown): Promise<number> =>
  (await callOn(platform, method, path, body)).status;
const problem = (code: string, detail?: string) =>
  expect.objectContaining({ code, ...(detail === undefined ? {} : { detail }) });

/** Every way to name a namespace on `/system`: first those that refer to it, then the others. */
const requests = (namespace: string): readonly (readonly [string, string, unknown?])[] => [
  ["POST", "/system/functions", { ...hello, namespace }],
  ["PUT", "/system/functions", { ...hello, namespace }],
  ["POST", "/system/secrets", { name: "key", value: "v", namespace }],
  ["PUT", "/system/secrets", { name: "key", value: "v", namespace }],
  ["GET", `/system/functions?namespace=${namespace}`],
  ["GET", `/system/function/hello?namespace=${namespace}`],
  ["DELETE", "/system/functions", { functionName: "hello", namespace }],
  ["DELETE", `/system/functions?namespace=${namespace}`, { functionName: "hello" }],
  ["POST", "/system/scale-function/hello", { replicas: 1, namespace }],
  ["POST", `/system/scale-function/hello?namespace=${namespace}`, { replicas: 1 }],
  ["GET", `/system/secrets?namespace=${namespace}`],
  ["DELETE", "/system/secrets", { name: "key", namespace }],
  ["GET", `/system/logs?name=hello&namespace=${namespace}`],
  ["GET", `/system/namespace/${namespace}`],
];
/** How many refer to it: POST and PUT of functions and secrets. */
const referring = 4;

describe("a namespace", () => {
  test.each(["/system/namespace", "/system/namespaces"])(
    "lives under %s, with or without a final slash",
    async (base) => {
      expect(await callOn(pro, "POST", base, { name: "dev" })).toEqual({ status: 201, value: undefined });
      expect(await callOn(pro, "POST", `${base}/qa/`, { name: "qa", labels: { team: "a" } })).toMatchObject({
        status: 201,
      });
      for (const path of ["/system/namespaces", "/system/namespaces/"])
        expect((await callOn(pro, "GET", path)).value).toEqual(["dev", "functions", "qa"]);
      for (const end of ["", "/"]) {
        const shown = { name: "qa", labels: { team: "a", ...marker }, annotations: {} };
        expect(await callOn(pro, "GET", `${base}/qa${end}`)).toEqual({ status: 200, value: shown });
        expect((await pro.call("HEAD", `${base}/qa${end}`)).status).toBe(200);
        expect(await status(pro, "GET", `/system/namespace${end}`)).toBe(400);
      }
      expect(await callOn(pro, "PUT", `${base}/`, { name: "qa", annotations: { b: "1" } })).toEqual({
        status: 202,
        value: undefined,
      });
      expect(await status(pro, "PUT", `${base}/dev`, { name: "dev", labels: null, annotations: marker })).toBe(202);
      expect((await callOn(pro, "GET", `${base}/qa`)).value).toEqual({
        name: "qa",
        labels: marker,
        annotations: { b: "1" },
      });
      expect((await callOn(pro, "GET", `${base}/dev`)).value).toEqual({ name: "dev", labels: {}, annotations: marker });
      expect(await callOn(pro, "DELETE", `${base}/qa`)).toEqual({ status: 202, value: undefined });
      expect(await status(pro, "DELETE", `${base}/`, { name: "dev" })).toBe(202);
      expect((await callOn(pro, "GET", "/system/namespaces")).value).toEqual(["functions"]);
    },
  );

  test("that exists cannot be created again, nor one that is still being deleted", async () => {
    await status(pro, "POST", "/system/namespace", { name: "dev" });
    for (const name of ["dev", "functions"]) {
      const { status: code, value } = await callOn(pro, "POST", "/system/namespace", { name });
      expect([code, value]).toEqual([409, problem("namespace_exists")]);
    }
    await status(pro, "DELETE", "/system/namespace/dev");
    expect(await callOn(pro, "POST", "/system/namespace", { name: "dev" })).toEqual({
      status: 409,
      value: problem("namespace_exists", 'Cannot create namespace "dev": it is still being deleted'),
    });
    await store.remove("dev");
    expect(await status(pro, "POST", "/system/namespace", { name: "dev" })).toBe(201);
  });

  test("the default one may be changed and not deleted", async () => {
    expect(await status(pro, "PUT", "/system/namespace/openfaas-fn", { name: "openfaas-fn", labels: { a: "b" } })).toBe(
      202,
    );
    expect((await callOn(pro, "GET", "/system/namespace/openfaas-fn")).value).toEqual({
      name: "functions",
      labels: { a: "b", ...marker },
      annotations: {},
    });
    for (const name of ["functions", "openfaas-fn"])
      expect(await callOn(pro, "DELETE", `/system/namespace/${name}`)).toEqual({
        status: 403,
        value: problem("forbidden"),
      });
  });

  test.each([
    ["POST", "/system/namespace", undefined],
    ["POST", "/system/namespace/dev", undefined],
    ["PUT", "/system/namespace/dev", undefined],
    ["DELETE", "/system/namespace", undefined],
    ["POST", "/system/namespace", {}],
    ["POST", "/system/namespace", []],
    ["POST", "/system/namespace", { namespace: "x" }],
    ["POST", "/system/namespace/x", { namespace: "x" }],
    ["POST", "/system/namespace", { name: 5 }],
    ["POST", "/system/namespace", { name: "Dev" }],
    ["POST", "/system/namespace", { name: "a.b" }],
    ["POST", "/system/namespace", { name: "x".repeat(64) }],
    ["POST", "/system/namespace", { name: "x", labels: { a: 1 } }],
    ["POST", "/system/namespace", { name: "x", labels: { a: "b c" } }],
    ["POST", "/system/namespace", { name: "x", labels: [] }],
    ["POST", "/system/namespace", { name: "x", annotations: { "a b": "" } }],
    ["POST", "/system/namespace", { name: "x", labels: { "com.service.namespace": "no" } }],
    ["POST", "/system/namespace/a", { name: "b" }],
    ["PUT", "/system/namespaces/a/", { name: "b" }],
    ["DELETE", "/system/namespace/a", { name: "b" }],
    ["DELETE", "/system/namespace/a", {}],
    ["DELETE", "/system/namespace/a", []],
    ["DELETE", "/system/namespace/A", undefined],
    ["GET", "/system/namespace/A", undefined],
  ])("%s %s of %j is 400", async (method, path, body) => {
    for (const platform of [pro, community]) expect(await status(platform, method, path, body), path).toBe(400);
    expect(await store.list()).toEqual([]);
  });

  test.each(mutations)("%s is 403 in an edition with one, and 404 for an unknown one in others", async (method) => {
    for (const name of ["dev", "functions", "openfaas-fn"]) {
      expect(await callOn(community, method, `/system/namespace/${name}`, { name })).toEqual({
        status: 403,
        value: problem(
          "edition_limit",
          `Cannot change namespace "${name}": edition "community" has only "functions", more need edition "pro"`,
        ),
      });
    }
    for (const name of ["kube-system", "weir", "default", "kept"]) {
      for (const platform of [pro, community])
        expect(await callOn(platform, method, `/system/namespace/${name}`, { name })).toEqual({
          status: 403,
          value: problem("namespace_reserved"),
        });
    }
    if (method !== "POST")
      expect(await callOn(pro, method, "/system/namespace/qa", { name: "qa" })).toEqual({
        status: 404,
        value: problem("namespace_not_found"),
      });
  });
});

describe("a request that names a namespace", () => {
  test("with bad grammar is 400, reserved 403", async () => {
    for (const platform of [pro, community]) {
      for (const [method, path, body] of requests("Bad"))
        expect(await status(platform, method, path, body), path).toBe(400);
      for (const name of ["kube-system", "weir", "kept"]) {
        for (const [method, path, body] of requests(name))
          expect(await callOn(platform, method, path, body), path).toEqual({
            status: 403,
            value: problem("namespace_reserved"),
          });
      }
    }
  });

  test("unknown or being deleted is 400 where it is referred to, 404 elsewhere", async () => {
    await status(pro, "POST", "/system/namespace", { name: "dev" });
    await status(pro, "DELETE", "/system/namespace/dev");
    for (const name of ["qa", "dev"]) {
      for (const [index, [method, path, body]] of requests(name).entries()) {
        const expected =
          index < referring
            ? { status: 400, value: problem("validation_failed", `Cannot find namespace "${name}": it does not exist`) }
            : { status: 404, value: problem("namespace_not_found") };
        expect(await callOn(pro, method, path, body), `${method} ${path}`).toEqual(expected);
      }
    }
    expect([pro.functions.size, pro.secrets.size]).toEqual([0, 0]);
  });

  test("that exists is served, and in an edition with one refused with the edition needed", async () => {
    await status(pro, "POST", "/system/namespace", { name: "dev" });
    for (const [method, path, body] of requests("dev")) {
      const code = await status(pro, method, path, body);
      expect([200, 201, 202, 404], `${method} ${path} ${code}`).toContain(code);
      expect(await callOn(community, method, path, body), path).toEqual({
        status: 403,
        value: problem(
          "edition_limit",
          'Cannot use namespace "dev": edition "community" has only "functions", more need edition "pro"',
        ),
      });
    }
    expect((await callOn(community, "GET", "/system/namespaces")).value).toEqual(["functions"]);
  });

  test("functions and secrets of one name are kept apart", async () => {
    await status(pro, "POST", "/system/namespace", { name: "dev" });
    for (const [namespace, image] of [
      ["dev", "example/dev:1"],
      ["functions", "example/default:1"],
    ] as const) {
      expect(await status(pro, "POST", "/system/functions", { ...hello, image, namespace })).toBe(202);
      expect(await status(pro, "POST", "/system/secrets", { name: `key-${namespace}`, value: "v", namespace })).toBe(
        201,
      );
    }
    expect((await callOn(pro, "GET", "/system/function/hello?namespace=dev")).value).toMatchObject({
      image: "example/dev:1",
      namespace: "dev",
    });
    expect((await callOn(pro, "GET", "/system/function/hello")).value).toMatchObject({ image: "example/default:1" });
    expect((await callOn(pro, "GET", "/system/secrets?namespace=dev")).value).toEqual([
      { name: "key-dev", namespace: "dev" },
    ]);
    const foreign = { ...hello, namespace: "dev", secrets: ["key-functions"] };
    expect(await callOn(pro, "PUT", "/system/functions", foreign)).toMatchObject({ status: 400 });
    expect(await status(pro, "PUT", "/system/functions", { ...foreign, secrets: ["key-dev"] })).toBe(202);
    expect(
      await status(pro, "DELETE", "/system/functions?namespace=dev", { functionName: "hello", namespace: "functions" }),
    ).toBe(202);
    expect((await callOn(pro, "GET", "/system/functions")).value).toEqual([]);
    expect(await status(pro, "GET", "/system/function/hello?namespace=dev")).toBe(200);
  });

  test("an alias means the default one until a namespace of its name exists", async () => {
    await status(pro, "PUT", "/system/functions", { ...hello, namespace: "openfaas-fn" });
    expect([...pro.functions.keys()]).toEqual(["hello.functions"]);
    expect(await status(pro, "POST", "/system/namespace", { name: "openfaas-fn" })).toBe(201);
    expect((await callOn(pro, "GET", "/system/functions?namespace=openfaas-fn")).value).toEqual([]);
    await status(pro, "PUT", "/system/functions", { ...hello, namespace: "openfaas-fn" });
    expect((await callOn(pro, "GET", "/system/function/hello?namespace=openfaas-fn")).value).toMatchObject({
      namespace: "openfaas-fn",
    });
    expect((await callOn(community, "GET", "/system/namespace/openfaas-fn")).value).toMatchObject({
      name: "functions",
    });
    await status(pro, "DELETE", "/system/namespace/openfaas-fn");
    expect((await callOn(pro, "GET", "/system/function/hello?namespace=openfaas-fn")).value).toMatchObject({
      namespace: "functions",
    });
  });

  test("a namespace deleted while something is written into it keeps nothing of it", async () => {
    await status(pro, "POST", "/system/namespace", { name: "dev" });
    // The gateway that writes does not know of the deletion yet.
    const stale = new MemoryNamespaceStore();
    await using behind = await openRestPlatform({ edition: "pro", namespaceStore: stale });
    await stale.write("dev", () => ({
      name: "dev",
      labels: {},
      annotations: {},
      createdAt: "2026-01-01T00:00:00Z",
      deleting: false,
    }));
    stale.get = async () => undefined;
    for (const [method, path, body] of requests("dev").slice(0, 3))
      expect(await callOn(behind, method, path, body), path).toEqual({
        status: 400,
        value: problem("validation_failed"),
      });
    expect([behind.functions.size, behind.secrets.size]).toEqual([0, 0]);
  });
});

test("a queue that the edition does not have is refused at deploy, naming the edition needed", async () => {
  for (const platform of [pro, community]) {
    const { status: code, value } = await callOn(platform, "PUT", "/system/functions", {
      ...hello,
      annotations: { "com.service.queue": "slow" },
    });
    expect([code, value]).toEqual([403, problem("edition_limit")]);
    expect(JSON.stringify(value)).toMatch(/need edition \\"enterprise\\"/);
  }
});
