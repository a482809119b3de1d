import { createPrivateKey } from "node:crypto";
import { mkdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { SimulateReply } from "../../../../runtime/api/schemas/iam/access.ts";
import { reasonOf } from "../../../../runtime/cli/commands/iam/can-i.ts";
import { singleActions } from "../../../../runtime/cli/iam/access-question.ts";
import { openCredentials } from "../../../../runtime/host/credentials.ts";
import { runCli } from "../../../../runtime/cli/run-cli.ts";
import { heardTerminal } from "../../../support/heard-terminal.ts";
import { noRoute, openPretendedGateway, problem } from "../../../support/pretended-gateway.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const yes: SimulateReply = { allowed: true, role: "deployers", policy: "deploy", sid: "1" };
const no: SimulateReply = { allowed: false, missing: { action: "Function:Delete", resource: "dev:pay" } };
const question = ["iam", "can-i", "Function:Delete", "dev:pay"];

describe("weir iam can-i", () => {
  test("says yes and by what, with exit code 0", async () => {
    await using gateway = await openPretendedGateway(() => ({ json: yes }));
    expect(await gateway.run(question)).toEqual({
      code: 0,
      stdout: 'yes: Role "deployers" gives Policy "deploy", statement "1"\n',
      stderr: "",
    });
    expect(gateway.requests).toEqual([
      {
        method: "POST",
        target: "/system/iam/simulate",
        body: JSON.stringify({ action: "Function:Delete", resource: "dev:pay" }),
      },
    ]);
    expect((await gateway.run([...question, "-o", "name"])).stdout).toBe("yes\n");
    expect(JSON.parse((await gateway.run([...question, "-o", "json"])).stdout)).toEqual(yes);
  });

  test("says no and what is missing, with exit code 1 and nothing else", async () => {
    await using gateway = await openPretendedGateway(() => ({ json: no }));
    expect(await gateway.run(question)).toEqual({
      code: 1,
      stdout: "no: no policy allows Function:Delete on dev:pay\n",
      stderr: "",
    });
  });

  test("asks for the claims of a file, or a token", async () => {
    await using place = await tempDirectory("can-i");
    await using gateway = await openPretendedGateway(() => ({ json: no }));
    await writeFile(join(place.path, "claims.json"), '{"sub":"alice"}');
    await writeFile(join(place.path, "token"), "a.b.c\n");
    const options = { directory: place.path };
    await gateway.run([...question, "--as", "claims.json"], options);
    await gateway.run([...question, "--as-token", "token"], options);
    expect(gateway.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { claims: { sub: "alice" }, action: "Function:Delete", resource: "dev:pay" },
      { token: "a.b.c", action: "Function:Delete", resource: "dev:pay" },
    ]);
  });

  test.each<readonly [string, readonly string[], RegExp]>([
    ["an action that is none", ["Function:Delet", "dev:pay"], /there is none; did you mean Function:Delete\?\n$/],
    ["a pattern of actions", ["Function:*", "dev:pay"], /Cannot ask for action "Function:\*"/],
    [
      "a resource that is none",
      ["Function:Delete", "pay"],
      /it must be "namespace:function", "namespace:\*" or "\*"\n$/,
    ],
    [
      "claims that are a list",
      ["Function:Delete", "dev:pay", "--as", "list.json"],
      /"list.json": it is no JSON object/,
    ],
    ["claims that are no JSON", ["Function:Delete", "dev:pay", "--as", "text"], /"text": it is not JSON\n$/],
    ["no file", ["Function:Delete", "dev:pay", "--as", "gone"], /Cannot read "gone": it is not there\n$/],
    [
      "both claims and a token",
      ["Function:Delete", "dev:pay", "--as", "text", "--as-token", "text"],
      /give one of --as and --as-token\n$/,
    ],
  ])("with %s sends nothing, and is exit code 2", async (_, args, message) => {
    await using place = await tempDirectory("can-i");
    await using gateway = await openPretendedGateway(() => ({ json: yes }));
    await writeFile(join(place.path, "list.json"), "[]");
    await writeFile(join(place.path, "text"), "sub: alice");
    const { code, stdout, stderr } = await gateway.run(["iam", "can-i", ...args], { directory: place.path });
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(message)]);
    expect(gateway.requests).toEqual([]);
  });

  test.each<readonly [string, Parameters<typeof problem>, number, string]>([
    ["that it may not ask", [403, "forbidden", "Cannot simulate"], 4, "Cannot simulate\nTry: weir whoami\n"],
    ["that the token is none", [400, "validation_failed", "Cannot read it"], 2, "Cannot read it\n"],
    ["that it is broken", [500, "internal_error", "Cannot do it"], 5, "Cannot do it\n"],
  ])("a gateway that says %s says neither yes nor no", async (_, reply, code, stderr) => {
    await using gateway = await openPretendedGateway(() => problem(...reply));
    expect(await gateway.run(question)).toEqual({ code, stdout: "", stderr });
  });

  test("a gateway without IAM, or another server, says neither yes nor no", async () => {
    await using without = await openPretendedGateway(() => noRoute);
    expect(await without.run(question)).toEqual({
      code: 4,
      stdout: "",
      stderr: "Cannot ask who may do what: this gateway has no IAM\n",
    });
    await using other = await openPretendedGateway(() => ({ json: {} }));
    expect(await other.run(question)).toMatchObject({ code: 5, stdout: "" });
  });
});

test("a decision is explained", () => {
  expect(reasonOf({ allowed: true, role: "administrator" })).toBe("administrator may do everything");
  expect(reasonOf({ ...no, reportedBy: "trial" })).toBe(
    'no policy allows Function:Delete on dev:pay; Role "trial" would, but it is in mode report and only logs that',
  );
});

describe("weir iam simulate", () => {
  test("asks for each action of the kinds that a resource has", async () => {
    await using gateway = await openPretendedGateway(({ body }) => {
      const { action } = JSON.parse(body) as { readonly action: string };
      return { json: action === "Function:Get" ? yes : { ...no, missing: { action, resource: "dev:pay" } } };
    });
    const { code, stdout } = await gateway.run(["iam", "simulate", "dev:pay"]);
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.trimEnd().split(/ {2,}/));
    expect(lines[0]).toEqual(["ACTION", "ALLOWED", "ROLE", "POLICY", "STATEMENT", "REPORTED BY"]);
    expect(lines).toContainEqual(["Function:Get", "yes", "deployers", "deploy", "1"]);
    expect(lines).toContainEqual(["Secret:Create", "no"]);
    const asked = singleActions.filter((action) => !/^(?:System|Queue|Session):/.test(action));
    expect(lines.slice(1).map(([action]) => action)).toEqual(asked);
    expect((await gateway.run(["iam", "simulate", "*", "-o", "name"])).stdout.split("\n")).toHaveLength(
      singleActions.length + 1,
    );
  });

  test("asks for the named actions only, and shows decisions as they are", async () => {
    await using gateway = await openPretendedGateway(() => ({ json: no }));
    const { code, stdout } = await gateway.run(["iam", "simulate", "dev:pay", "Function:Delete", "-o", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([{ action: "Function:Delete", resource: "dev:pay", ...no }]);
    expect(gateway.requests).toHaveLength(1);
  });
});

const manifests = `apiVersion: iam.service.com/v1
kind: JwtIssuer
metadata: {name: first}
spec: {iss: https://a.example, aud: [weir]}
---
apiVersion: iam.service.com/v1
kind: Policy
metadata: {name: deploy}
spec: {statement: [{sid: a, effect: Allow, action: ["Function:*"], resource: ["dev:*"]}]}
`;
const roleOf = (rest: string): string => `apiVersion: iam.service.com/v1
kind: Role
metadata:
  name: deployers
spec:
${rest}`;

describe("weir iam check", () => {
  async function checked(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
    await using place = await tempDirectory("iam-check");
    await mkdir(join(place.path, "iam"));
    for (const [name, text] of Object.entries(files)) await writeFile(join(place.path, "iam", name), text);
    const terminal = heardTerminal({ directory: place.path });
    const code = await runCli(["iam", "check", ...args], terminal);
    return { code, ...terminal.written };
  }
  const good = { "a.yaml": manifests, "b.yml": roleOf('  policy: [deploy]\n  principal: {"jwt:sub": [alice]}\n') };

  test("finds nothing wrong with good rules, without a gateway", async () => {
    expect(await checked(good, "iam")).toEqual({
      code: 0,
      stdout: "LEVEL  PLACE  SUBJECT  FINDING\n",
      stderr: "2 files: 1 JwtIssuer, 1 Policy, 1 Role\n",
    });
    expect(await checked(good, "iam", "--strict", "-o", "json", "-q")).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  });

  test.each<readonly [string, string, string]>([
    ["an unknown action", manifests.replace("Function:*", "Function:Run"), "expected an action such as"],
    ["a resource that is not anchored", manifests.replace("dev:*", "dev"), "which are matched as a whole"],
    ["a field that is not known", manifests.replace("action:", "actions:"), "is not known; did you mean action?"],
    ["what is no YAML", "a: [", "it is not YAML"],
  ])("finds %s, with file and line", async (_, text, sentence) => {
    const { code, stdout, stderr } = await checked({ "a.yaml": text }, "iam/a.yaml", "-o", "json");
    expect(code).toBe(1);
    const [finding] = JSON.parse(stdout) as { readonly level: string; readonly place: string; sentence: string }[];
    expect(finding).toMatchObject({ level: "problem", place: expect.stringMatching(/^iam\/a\.yaml:\d+$/) as string });
    expect(finding?.sentence).toContain(sentence);
    expect(stderr).toMatch(/Found \d problems?\n$/);
  });

  test("finds what no file of the directory has, and counts warnings with --strict only", async () => {
    const files = { ...good, "b.yml": roleOf("  policy: [deploy, gone]\n") };
    const { code, stdout } = await checked(files, "iam");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^problem +iam\/b\.yml:1 +Role "deployers" +it names Policy "gone", which does not exist/m);
    expect(stdout).toMatch(/^warning +iam\/b\.yml:1 +Role "deployers" +it has neither principal nor condition/m);
    const odd = { ...good, "b.yml": roleOf("  policy: [deploy]\n") };
    expect((await checked(odd, "iam")).code).toBe(0);
    expect(await checked(odd, "iam", "--strict")).toMatchObject({
      code: 1,
      stderr: "2 files: 1 JwtIssuer, 1 Policy, 1 Role\nFound 1 finding\n",
    });
  });

  test("counts a file that is named twice once", async () => {
    expect(await checked(good, "iam", "iam/a.yaml")).toMatchObject({ code: 0 });
  });

  test.each<readonly [readonly string[], string]>([
    [["gone"], 'Cannot read "gone": it is not there\n'],
    [["iam"], 'Cannot check "iam": there is no YAML file in it\n'],
  ])("with %j is exit code 2", async (args, stderr) => {
    expect(await checked({ ".hidden.yaml": manifests, "a.txt": "" }, ...args)).toEqual({ code: 2, stdout: "", stderr });
  });
});

describe("weir iam rotate-key", () => {
  async function place() {
    const opened = await tempDirectory("rotate-key");
    const credentials = join(opened.path, ".weir", "credentials");
    await mkdir(join(opened.path, ".weir"));
    await openCredentials(credentials);
    return {
      path: opened.path,
      read: (name: string) => readFile(join(credentials, name), "utf8"),
      age: (name: string, at: Date) => utimes(join(credentials, name), at, at),
      run: async (args: readonly string[], uid = process.getuid?.()) => {
        const terminal = heardTerminal({ directory: opened.path, uid });
        return { code: await runCli(["iam", "rotate-key", ...args], terminal), ...terminal.written };
      },
      [Symbol.asyncDispose]: opened.remove,
    };
  }

  test.each([
    ["tokens", [], "issuer-key.pem", "issuer-key-previous.pem", "ec"],
    ["callbacks", ["callbacks"], "callback-key.pem", "callback-key-previous.pem", "ed25519"],
  ] as const)("of %s makes another key and keeps the one before", async (_, args, current, previous, type) => {
    await using at = await place();
    const first = await at.read(current);
    const { code, stderr } = await at.run(args);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("is a new one; what the key before it signed stays valid"),
    ]);
    expect(await at.read(previous)).toBe(first);
    const second = await at.read(current);
    expect(second).not.toBe(first);
    expect(createPrivateKey(second).asymmetricKeyType).toBe(type);
  });

  test("again makes nothing invalid unless it is said", async () => {
    await using at = await place();
    await at.run([]);
    const [current, previous] = [await at.read("issuer-key.pem"), await at.read("issuer-key-previous.pem")];
    expect(await at.run([])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^Cannot ask "Rotate the key of tokens again\? .*": there is no terminal; say --yes\n$/,
      ) as string,
    });
    expect([await at.read("issuer-key.pem"), await at.read("issuer-key-previous.pem")]).toEqual([current, previous]);
    expect((await at.run(["--yes"])).code).toBe(0);
    expect(await at.read("issuer-key-previous.pem")).toBe(current);
    await at.age("issuer-key.pem", new Date(Date.now() - 25 * 3_600_000));
    expect((await at.run([])).code).toBe(0);
  });

  test.each<readonly [string, readonly string[], number | undefined, number, RegExp]>([
    ["without a Weir", [], 4_294_967, 2, /^Cannot find a Weir: there is no \.weir of yours here or above/],
    ["of another user", ["--data", ".weir"], 4_294_967, 1, /: it belongs to another user; do this as that user\n$/],
    ["without a key", ["--data", "."], undefined, 1, /: it is not there; the first start of Weir makes it\n$/],
  ])("%s changes nothing", async (_, args, uid, code, message) => {
    await using at = await place();
    const before = await at.read("issuer-key.pem");
    const ended = await at.run(args, uid ?? process.getuid?.());
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
    expect(await at.read("issuer-key.pem")).toBe(before);
  });
});

describe("weir iam sessions", () => {
  const alice = {
    id: "Wm8fQ2xk0c3dTqZp",
    subject: "fed:alice",
    name: "alice@example.com",
    issuer: "https://issuer.example",
    via: "issuer",
    expiresAt: "2026-01-31T20:00:00.000Z",
  };

  test("lists who is signed in", async () => {
    await using gateway = await openPretendedGateway(() => ({ json: [alice] }));
    const { code, stdout } = await gateway.run(["iam", "sessions", "list"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^ID .*\nWm8fQ2xk0c3dTqZp +alice@example.com +fed:alice /),
    ]);
    expect((await gateway.run(["iam", "sessions", "list", "-o", "name"])).stdout).toBe(`${alice.id}\n`);
  });

  test("ends one, or those of a subject, and says when there is none", async () => {
    let ended = [alice];
    await using gateway = await openPretendedGateway(() => ({ json: { ended } }));
    const end = (...words: string[]) => gateway.run(["iam", "sessions", "end", ...words]);
    expect(await end(alice.id)).toMatchObject({ code: 0, stdout: `ended ${alice.id} of alice@example.com\n` });
    ended = [];
    expect(await end("--subject", "fed:bob", "--issuer", "https://i.example")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Cannot end sessions of "fed:bob": there is none'),
    });
    expect((await end()).code).toBe(2);
    expect((await end("x", "--subject", "y")).code).toBe(2);
    expect(gateway.requests.map(({ method, target, body }) => [method, target, JSON.parse(body)])).toEqual([
      ["DELETE", "/system/sessions", { id: alice.id }],
      ["DELETE", "/system/sessions", { subject: "fed:bob", issuer: "https://i.example" }],
    ]);
  });
});
