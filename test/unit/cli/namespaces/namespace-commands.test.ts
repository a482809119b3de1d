import { describe, expect, test } from "vitest";

import { changedKeyValues, readKeyValues } from "../../../../runtime/cli/commands/namespaces/key-values.ts";
import { noRoute, openPretendedGateway, type GotRequest } from "../../../support/pretended-gateway.ts";

describe("key=value pairs", () => {
  test.each([
    [[], {}],
    [["a=b"], { a: "b" }],
    [["a=b=c", "d="], { a: "b=c", d: "" }],
    [["a=1", "a=2"], { a: "2" }],
    [["__proto__=x"], Object.fromEntries([["__proto__", "x"]])],
  ])("%j are %j", (pairs, expected) => {
    expect(readKeyValues("--label", pairs)).toEqual(expected);
  });

  test.each(["a", "", "=b"])("%j is none", (pair) => {
    expect(() => readKeyValues("--label", [pair])).toThrow(
      expect.objectContaining({ exit: 2, message: `Cannot use --label "${pair}": it must be key=value` }),
    );
  });

  test("are set and removed, and the others stay", () => {
    expect(changedKeyValues({ a: "1", b: "2", c: "3" }, { b: "x", d: "4" }, ["c", "e"])).toEqual({
      a: "1",
      b: "x",
      d: "4",
    });
    expect(changedKeyValues({}, { a: "1" }, ["a"])).toEqual({});
  });
});

const marker = { "com.service.namespace": "1" };
const dev = { name: "dev", labels: { ...marker, team: "blue", cost: "7" }, annotations: { owner: "me" } };
const reply = ({ method, target }: GotRequest) => {
  if (method !== "GET") return { status: 202 };
  if (target === "/system/namespaces") return { json: ["dev", "functions"] };
  if (target.startsWith("/system/functions")) return { json: [{ name: "a" }, { name: "b" }] };
  return target === "/system/namespace/dev" ? { json: dev } : noRoute;
};

test("weir namespaces list has a line for each", async () => {
  await using gateway = await openPretendedGateway(reply);
  expect(await gateway.run(["namespace", "ls"])).toEqual({ code: 0, stdout: "NAME\ndev\nfunctions\n", stderr: "" });
  expect(await gateway.run(["namespaces", "list", "-o", "name"])).toMatchObject({ stdout: "dev\nfunctions\n" });
});

test("weir namespaces show has labels and annotations, each on a line", async () => {
  await using gateway = await openPretendedGateway(reply);
  const { stdout } = await gateway.run(["namespaces", "get", "dev"]);
  expect(stdout.split("\n")).toEqual([
    "namespace    dev",
    "labels       com.service.namespace=1",
    "             team=blue",
    "             cost=7",
    "annotations  owner=me",
    "",
  ]);
  const { stdout: json } = await gateway.run(["namespaces", "show", "dev", "-o", "json"]);
  expect(JSON.parse(json)).toEqual(dev);
});

test("weir namespaces create sends what was given", async () => {
  await using gateway = await openPretendedGateway(reply);
  const flags = ["--label", "team=blue", "--label", "a=b", "--annotation", "owner=me too"];
  expect(await gateway.run(["namespaces", "create", ...flags, "dev"])).toEqual({
    code: 0,
    stdout: "",
    stderr: 'Namespace "dev" is created\n',
  });
  expect(gateway.requests).toEqual([
    {
      method: "POST",
      target: "/system/namespaces",
      body: '{"name":"dev","labels":{"team":"blue","a":"b"},"annotations":{"owner":"me too"}}',
    },
  ]);
});

test("weir namespaces update keeps what it does not name", async () => {
  await using gateway = await openPretendedGateway(reply);
  const flags = ["--label", "team=red", "--remove-label", "cost", "--annotation", "a=b"];
  expect(await gateway.run(["namespaces", "update", "dev", ...flags])).toMatchObject({ code: 0 });
  const put = gateway.requests.at(-1);
  expect([put?.method, put?.target]).toEqual(["PUT", "/system/namespaces"]);
  expect(JSON.parse(put?.body ?? "")).toEqual({
    name: "dev",
    labels: { ...marker, team: "red" },
    annotations: { owner: "me", a: "b" },
  });
});

describe("weir namespaces delete", () => {
  test("asks, with the number of functions that go with it", async () => {
    await using gateway = await openPretendedGateway(reply);
    expect(await gateway.run(["namespaces", "rm", "dev"])).toEqual({
      code: 2,
      stdout: "",
      stderr: 'Cannot ask "Delete namespace "dev" with 2 functions?": there is no terminal; say --yes\n',
    });
    expect(gateway.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("deletes with --yes", async () => {
    await using gateway = await openPretendedGateway(reply);
    expect(await gateway.run(["namespaces", "delete", "dev", "--yes"])).toEqual({
      code: 0,
      stdout: "",
      stderr: 'Namespace "dev" is deleted with 2 functions\n',
    });
    expect(gateway.requests.at(-1)).toMatchObject({ method: "DELETE", target: "/system/namespace/dev" });
  });
});

const rule = 'only a to z, 0 to 9 and "-" inside are allowed, at most 63 characters';
test.each([
  [["show", ".."], `Cannot show namespace "..": ${rule}`],
  [["create", "Dev"], `Cannot create namespace "Dev": ${rule}`],
  [["create", "dev", "--label", "x"], 'Cannot use --label "x": it must be key=value'],
  [["update", "a/b", "--label", "a=b"], `Cannot update namespace "a/b": ${rule}`],
  [
    ["update", "dev"],
    'Cannot update namespace "dev": give --label, --annotation, --remove-label or --remove-annotation',
  ],
  [["update", "dev", "--annotation", "=b"], 'Cannot use --annotation "=b": it must be key=value'],
  [["delete", "a b", "--yes"], `Cannot delete namespace "a b": ${rule}`],
])("namespaces %j sends nothing and is exit code 2", async (args, sentence) => {
  await using gateway = await openPretendedGateway(reply);
  expect(await gateway.run(["namespaces", ...args])).toEqual({ code: 2, stdout: "", stderr: `${sentence}\n` });
  expect(gateway.requests).toEqual([]);
});
