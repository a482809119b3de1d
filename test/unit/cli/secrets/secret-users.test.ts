import { describe, expect, test } from "vitest";

import { deletionQuestion } from "../../../../runtime/cli/commands/secrets/delete.ts";
import { secretUsers } from "../../../../runtime/cli/commands/secrets/secret-users.ts";
import { noRoute, openPretendedGateway, type GotRequest } from "../../../support/pretended-gateway.ts";

const functions = [
  { name: "pay", secrets: ["key", "pin"] },
  { name: "hello", secrets: ["key", "key"] },
  { name: "upper" },
];

test("users of a secret are named once, sorted", () => {
  expect([...secretUsers(functions)]).toEqual([
    ["key", ["hello", "pay"]],
    ["pin", ["pay"]],
  ]);
});

test.each([
  [[], 'Delete secret "key"?'],
  [["hello"], 'Delete secret "key", used by hello?'],
  [["a", "b", "c", "d", "e"], 'Delete secret "key", used by a, b, c, d, e?'],
  [["a", "b", "c", "d", "e", "f", "g"], 'Delete secret "key", used by a, b, c, d, e and 2 more?'],
  [["a\u001b[2J"], String.raw`Delete secret "key", used by a\u001b[2J?`],
])("used by %j, the question is %j", (users, question) => {
  expect(deletionQuestion("key", users)).toBe(question);
});

const reply = ({ method, target }: GotRequest) => {
  if (method === "DELETE") return { status: 202 };
  if (target.startsWith("/system/functions")) return { json: functions };
  return target.startsWith("/system/secrets")
    ? { json: ["key", "old"].map((name) => ({ name, namespace: "functions" })) }
    : noRoute;
};

describe("weir secrets list", () => {
  test("shows who uses each", async () => {
    await using gateway = await openPretendedGateway(reply);
    const { code, stdout, stderr } = await gateway.run(["secrets", "ls", "-n", "dev"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe("NAME  USED BY\nkey   hello, pay\nold\n");
    expect(gateway.requests.map(({ target }) => target)).toEqual([
      "/system/secrets?namespace=dev",
      "/system/functions?namespace=dev",
    ]);
  });

  test("-o json is what the API returned, by one request", async () => {
    await using gateway = await openPretendedGateway(reply);
    const { stdout } = await gateway.run(["secret", "list", "-o", "json"]);
    expect(JSON.parse(stdout)).toEqual(["key", "old"].map((name) => ({ name, namespace: "functions" })));
    expect(gateway.requests).toHaveLength(1);
  });
});

describe("weir secrets delete", () => {
  test("of one in use names the functions and asks", async () => {
    await using gateway = await openPretendedGateway(reply);
    expect(await gateway.run(["secrets", "rm", "key"])).toEqual({
      code: 2,
      stdout: "",
      stderr: 'Cannot ask "Delete secret "key", used by hello, pay?": there is no terminal; say --yes\n',
    });
    expect(gateway.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("deletes it with --yes in its namespace, and says who used it", async () => {
    await using gateway = await openPretendedGateway(reply);
    expect(await gateway.run(["secrets", "delete", "key", "--yes", "-n", "dev"])).toEqual({
      code: 0,
      stdout: "",
      stderr: 'Secret "key" is deleted; used by hello, pay\n',
    });
    expect(gateway.requests.at(-1)).toEqual({
      method: "DELETE",
      target: "/system/secrets",
      body: '{"name":"key","namespace":"dev"}',
    });
  });

  test("sends nothing for a name that no secret can have", async () => {
    await using gateway = await openPretendedGateway(reply);
    expect(await gateway.run(["secrets", "delete", "a/b", "--yes"])).toMatchObject({ code: 2, stdout: "" });
    expect(gateway.requests).toEqual([]);
  });
});
