import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";
import { parse } from "yaml";

import { runCli } from "../../../../../runtime/cli/run-cli.ts";
import { heardTerminal } from "../../../../support/heard-terminal.ts";
import { tempDirectory } from "../../../../support/temp-directory.ts";

/** Files that others wrote: what is made of them means the same, and no terminal obeys it. */
const unsafe = /(?![\n\t])[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
const hostile = "a\u001B[2J\u009B31m\u202Egpj\u007F";
/** Of which YAML 1.1, as kubectl reads it, would make something else. */
const misread = { YES: "yes", OFF: "off", TIME: "12:30:45", OCTAL: "0777" };
const variables = { HOSTILE: hostile, ...misread };

async function run(files: Readonly<Record<string, string>>, args: readonly string[]) {
  await using directory = await tempDirectory("hostile-texts");
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory.path, name), text);
  const terminal = heardTerminal({ directory: directory.path });
  const code = await runCli(args, terminal);
  expect(terminal.written.stdout + terminal.written.stderr).not.toMatch(unsafe);
  return { code, ...terminal.written };
}

const project = JSON.stringify({ version: 1, functions: { hello: { image: "hello:1", envVars: variables } } });
const stack = JSON.stringify({
  version: 1,
  provider: { name: "openfaas", gateway: `http://${hostile}` },
  functions: { hello: { image: "hello:1", environment: variables, [hostile]: hostile } },
});

test("weir generate functions", async () => {
  const { code, stdout, stderr } = await run({ "weir.yaml": project }, ["generate", "functions"]);
  expect([code, stderr]).toEqual([0, ""]);
  for (const version of ["1.1", "1.2"] as const)
    expect(parse(stdout, { version })).toMatchObject({ spec: { environment: variables } });
});

test("weir generate pulumi", async () => {
  const { code, stdout } = await run({ "weir.yaml": project }, ["generate", "pulumi"]);
  expect(code).toBe(0);
  const [, literal = ""] = /^ *HOSTILE: (".*"),$/m.exec(stdout) ?? [];
  expect(JSON.parse(literal)).toBe(hostile);
});

test("weir import", async () => {
  const written = await run({ "stack.yml": stack }, ["import", "stack.yml", "--out", "-"]);
  expect(written.code).toBe(0);
  expect(parse(written.stdout)).toMatchObject({ functions: { hello: { envVars: variables } } });
  const reported = await run({ "stack.yml": stack }, ["import", "stack.yml", "--out", "moved/", "--report", "json"]);
  expect(reported.code).toBe(0);
  expect(JSON.parse(reported.stdout)).toMatchObject({ files: ["moved/weir.yaml"] });
  expect(reported.stdout).toContain(String.raw`\u202e`);
});
