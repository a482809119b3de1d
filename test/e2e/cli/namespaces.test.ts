import Type from "typebox";
import { Parse } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { FunctionNamespaceBody } from "../../../runtime/api/schemas/function-namespace.ts";
import { gatewayEnvironment, openCliHome, type CliHome, type CommandEnd } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** The commands of namespaces, as processes, against a real Weir. */
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;
const run = (...args: readonly string[]): Promise<CommandEnd> =>
  person.run(args, { environment: gatewayEnvironment(weir) });
const done = (line: string): CommandEnd => ({ code: 0, stdout: "", stderr: `${line}\n` });

beforeAll(async () => {
  data = await tempDirectory("cli-namespaces");
  person = await openCliHome();
  weir = await startWeir({ data: data.path });
});
afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

const shown = async (name: string): Promise<FunctionNamespaceBody> => {
  const { code, stdout, stderr } = await run("namespaces", "show", name, "-o", "json");
  expect([code, stderr]).toEqual([0, ""]);
  return Parse(FunctionNamespaceBody, JSON.parse(stdout));
};
const marker = { "com.service.namespace": "1" };

test("a namespace is created, listed, shown, changed and deleted", async () => {
  const given = ["--label", "team=blue", "--label", "cost=7", "--annotation", "owner=me = you"];
  expect(await run("namespaces", "create", "dev", ...given)).toEqual(done('Namespace "dev" is created'));
  expect(await run("namespaces", "list")).toEqual({ code: 0, stdout: "NAME\ndev\nfunctions\n", stderr: "" });
  const listed = await run("namespace", "ls", "-o", "json");
  expect(Parse(Type.Array(Type.String()), JSON.parse(listed.stdout))).toEqual(["dev", "functions"]);
  expect(await shown("dev")).toMatchObject({
    name: "dev",
    labels: { ...marker, team: "blue", cost: "7" },
    annotations: { owner: "me = you" },
  });
  const text = await run("namespaces", "get", "dev");
  expect(text.code).toBe(0);
  expect(text.stdout).toMatch(/^namespace +dev\n/);
  expect(text.stdout).toMatch(/^(?:labels)? +team=blue$/m);
  expect(text.stdout).toMatch(/^annotations +owner=me = you$/m);

  const changed = ["--label", "team=red", "--remove-label", "cost", "--remove-annotation", "owner"];
  expect(await run("namespaces", "update", "dev", ...changed)).toEqual(done('Namespace "dev" is updated'));
  const { labels, annotations } = await shown("dev");
  expect(labels).toEqual({ ...marker, team: "red" });
  expect(annotations).toEqual({});

  const deployed = await fetch(`${weir.url}/system/functions?wait=120s`, {
    method: "PUT",
    headers: { authorization: weir.authorization },
    body: JSON.stringify({ service: "hello", namespace: "dev", image: "hello", envProcess: "cat" }),
  });
  expect(deployed.status).toBe(202);
  expect(await run("namespaces", "delete", "dev")).toEqual({
    code: 2,
    stdout: "",
    stderr: 'Cannot ask "Delete namespace "dev" with 1 function?": there is no terminal; say --yes\n',
  });
  expect(await shown("dev")).toMatchObject({ name: "dev" });
  expect(await run("namespaces", "rm", "dev", "--yes")).toEqual(done('Namespace "dev" is deleted with 1 function'));
  expect(await run("namespaces", "show", "dev")).toMatchObject({ code: 3, stdout: "" });
  // The name is free as soon as what was in the namespace is gone.
  await eventually(async () => (await run("namespaces", "create", "dev")).code === 0, {
    within: 200_000,
    what: "the name to be free",
  });
  expect(await run("namespaces", "delete", "dev", "--yes")).toMatchObject({ code: 0 });
});

test("another name of the default namespace shows it under its real one", async () => {
  expect(await run("namespaces", "show", "openfaas-fn", "-o", "name")).toEqual({
    code: 0,
    stdout: "functions\n",
    stderr: "",
  });
});

describe("what is refused", () => {
  test("a namespace that is there is not created again", async () => {
    expect(await run("namespaces", "create", "twice")).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await run("namespaces", "create", "twice");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Cannot create namespace "twice": .*\nTry: weir namespaces list\n$/);
  });

  test.each([
    [["create", "kube-system"], 4, /^Cannot .*namespace "kube-system": .*reserved/],
    [["create", "Dev"], 2, /^Cannot create namespace "Dev": only a to z/],
    [["create", "labelled", "--label", "a b=c"], 1, /^Cannot .*a b/],
    [["delete", "functions", "--yes"], 4, /^Cannot delete namespace "functions": /],
    [["delete", "nowhere", "--yes"], 3, /^Cannot .*"nowhere".*\nTry: weir namespaces list\n$/],
    [["show", "nowhere"], 3, /^Cannot .*"nowhere".*\nTry: weir namespaces list\n$/],
    [["update", "nowhere", "--label", "a=b"], 3, /^Cannot .*"nowhere".*\nTry: weir namespaces list\n$/],
    [["update", "functions"], 2, /^Cannot update namespace "functions": give --label/],
    [["show"], 2, /^Cannot run "weir namespaces show": .*\nTry: weir namespaces show --help\n$/],
  ])("%j is exit code %i", async (args, exit, sentence) => {
    const { code, stdout, stderr } = await run("namespaces", ...args);
    expect([code, stdout]).toEqual([exit, ""]);
    expect(stderr).toMatch(sentence);
  });
});
