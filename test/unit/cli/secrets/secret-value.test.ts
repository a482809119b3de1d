import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { maxSecretBytes } from "../../../../runtime/api/schemas/secret.ts";
import { mostSecretBytes } from "../../../../runtime/cli/commands/secrets/secret-value.ts";
import {
  openPretendedGateway,
  problem,
  type GotRequest,
  type PretendedGateway,
} from "../../../support/pretended-gateway.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

const stored = ({ method }: GotRequest) => ({ status: method === "POST" ? 201 : 202 });

let directory: TempDirectory;
let taking: PretendedGateway;
beforeAll(async () => {
  directory = await tempDirectory("secret-value");
  taking = await openPretendedGateway(stored);
});
afterAll(async () => {
  await taking?.[Symbol.asyncDispose]();
  await directory?.remove();
});

/** The bytes that a command sent; undefined if it sent nothing. */
function valueSent(requests: readonly GotRequest[]): Buffer | undefined {
  const [request, ...more] = requests;
  if (request === undefined) return undefined;
  expect(more).toEqual([]);
  const { rawValue, ...rest } = JSON.parse(request.body) as { readonly rawValue: string };
  expect(rest).toEqual({ name: "key" });
  return Buffer.from(rawValue, "base64");
}

/** Runs `secrets <verb> key` with a value from a file or from standard input, and returns what was sent. */
async function send(
  verb: "create" | "update",
  from: "file" | "input",
  value: Uint8Array,
  flags: readonly string[] = [],
) {
  const before = taking.requests.length;
  await writeFile(join(directory.path, "value"), value);
  const args = ["secrets", verb, "key", ...(from === "file" ? ["--from-file", "value"] : []), ...flags];
  const end = await taking.run(args, {
    directory: directory.path,
    input: from === "file" ? "something else" : value,
  });
  return { ...end, sent: valueSent(taking.requests.slice(before)) };
}

const routes = ["create", "update"].flatMap((verb) =>
  ["file", "input"].map((from) => [verb, from]),
) as readonly (readonly ["create" | "update", "file" | "input"])[];

describe.each(routes)("weir secrets %s, from %s", (verb, from) => {
  test("sends exactly the one value, byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (value) => {
        const { code, sent } = await send(verb, from, value);
        expect(code).toBe(0);
        expect(sent).toEqual(Buffer.from(value));
      }),
      { numRuns: 10 },
    );
  });

  test.each([
    ["a\n", "a"],
    ["a\r\n", "a"],
    ["a\n\n", "a\n"],
    ["a\r", "a\r"],
    ["a", "a"],
    ["\na", "\na"],
  ])("--trim makes %j %j", async (value, expected) => {
    const { sent } = await send(verb, from, Buffer.from(value), ["--trim"]);
    expect(sent?.toString()).toBe(expected);
  });

  test("takes 1 MiB, and with --trim a line break after it", async () => {
    const value = Buffer.alloc(maxSecretBytes, "x");
    expect((await send(verb, from, value)).sent?.equals(value)).toBe(true);
    const line = Buffer.concat([value, Buffer.from("\r\n")]);
    expect((await send(verb, from, line, ["--trim"])).sent?.equals(value)).toBe(true);
  });

  test.each([
    ["nothing", Buffer.alloc(0), [], "its value is empty"],
    ["a line break that is trimmed", Buffer.from("\n"), ["--trim"], "its value is empty"],
    ["a byte over 1 MiB", Buffer.alloc(maxSecretBytes + 1, "x"), [], "its value has more than 1048576 bytes"],
    ["3 MiB", Buffer.alloc(3 * maxSecretBytes, "x"), ["--trim"], "its value has more than 1048576 bytes"],
  ])("refuses %s and sends nothing", async (_what, value, flags, reason) => {
    const { code, stderr, sent } = await send(verb, from, value, flags);
    expect([code, stderr]).toEqual([2, `Cannot ${verb} secret "key": ${reason}\n`]);
    expect(sent).toBeUndefined();
  });
});

test("the limit is that of the API", () => {
  expect(mostSecretBytes).toBe(maxSecretBytes);
});

const exactlyOne = "give exactly one of --from-literal, --from-file or standard input";
const rule = 'its name must be labels of a to z, 0 to 9 and "-" joined by ".", at most 253 characters';

describe.each(["create", "update"])("weir secrets %s", (verb) => {
  test.each([
    [["key", "--from-file", "a", "--from-literal", "b"], "key", exactlyOne],
    [["key", "--from-file", "a", "--from-file", "b"], "key", exactlyOne],
    [["key", "--from-literal", "a", "--from-literal", "a"], "key", exactlyOne],
    // The one standard input is a password.
    [["key", "--password-stdin"], "key", exactlyOne],
    [["Key", "--from-literal", "b"], "Key", rule],
    [["../key", "--from-literal", "b"], "../key", rule],
    [["key", "--from-literal", ""], "key", "its value is empty"],
    [["key", "--from-file", "missing"], "key", '"/missing": there is no such file or directory'],
    [["key", "--from-file", "."], "key", "it is a directory"],
  ])("%j sends nothing and is exit code 2", async (args, name, reason) => {
    await using gateway = await openPretendedGateway(stored);
    const { code, stdout, stderr } = await gateway.run(["secrets", verb, ...args], { input: "x" });
    expect(stderr.split("\n").at(-2)).toBe(`Cannot ${verb} secret "${name}": ${reason}`);
    expect([code, stdout]).toEqual([2, ""]);
    expect(gateway.requests).toEqual([]);
  });

  test("warns of a literal, also with --quiet", async () => {
    await using gateway = await openPretendedGateway(stored);
    const { code, stderr } = await gateway.run(["secrets", verb, "key", "--from-literal", "wert-ä", "-q"]);
    expect([code, stderr]).toEqual([
      0,
      "The value is in the shell's history and the list of processes; --from-file and standard input leave none\n",
    ]);
    expect(valueSent(gateway.requests)?.toString()).toBe("wert-ä");
  });
});

describe("a secret that is there already", () => {
  const there = ({ method }: GotRequest) =>
    method === "POST"
      ? problem(409, "secret_exists", 'Cannot create secret "key": it already exists')
      : { status: 202 };

  test("is not created, and the hint says how it is changed", async () => {
    await using gateway = await openPretendedGateway(there);
    expect(await gateway.run(["secrets", "create", "key"], { input: "x" })).toEqual({
      code: 1,
      stdout: "",
      stderr: 'Cannot create secret "key": it already exists\nTry: weir secrets update key\n',
    });
    expect(gateway.requests).toHaveLength(1);
  });

  test("is changed with --replace", async () => {
    await using gateway = await openPretendedGateway(there);
    expect(await gateway.run(["secrets", "create", "key", "--replace"], { input: "x" })).toMatchObject({ code: 0 });
    expect(gateway.requests.map(({ method }) => method)).toEqual(["POST", "PUT"]);
  });
});
