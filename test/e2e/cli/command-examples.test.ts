import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { CommandEntry } from "../../../runtime/cli/command-spec.ts";
import { commandTree } from "../../../runtime/cli/command-tree.ts";
import { environment } from "../../../runtime/process/settings.ts";
import { cliCommand, gatewayEnvironment, openCliHome, type CliHome } from "../../support/cli-home.ts";
import { untilHistoryReplies } from "../../support/history-replies.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** Every example of every command's help, in the order of the help, as a person types it into a shell. */

/** Lines that are not run here, and why. */
const notRun: Readonly<Record<string, string>> = {
  "weir login https://weir.example.com --sso": "it waits for a browser; test/integration/cli-sign-in.test.ts",
  "weir dev": "it ends with Ctrl-C; dev.test.ts",
  "weir dev hello --inspect": "it ends with Ctrl-C; dev.test.ts",
  "weir build hello --push --registry ghcr.io/acme": "it pushes to a public registry; build.test.ts has one of its own",
};

interface NamedExample {
  /** Words of the command. */
  readonly command: string;
  readonly line: string;
}

const examples = (await Promise.all(commandTree.map((entry) => examplesOf(entry, "")))).flat();

async function examplesOf(entry: CommandEntry, above: string): Promise<NamedExample[]> {
  const command = `${above} ${entry.name}`.trimStart();
  const own = (await entry.load?.())?.examples.map(({ line }) => ({ command, line })) ?? [];
  const inner = await Promise.all((entry.commands ?? []).map((each) => examplesOf(each, command)));
  return [...own, ...inner.flat()];
}

let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;

beforeAll(async () => {
  data = await tempDirectory("cli-examples");
  person = await openCliHome();
  const place = (...names: readonly string[]): string => join(person.home, ...names);
  for (const name of ["bin", "project", "stack", "work", "work/iam"]) await mkdir(place(name));
  const words = cliCommand.map((word) => `'${word}'`).join(" ");
  await writeFile(place("bin", "weir"), `#!/bin/sh\nexec ${words} "$@"\n`);
  await chmod(place("bin", "weir"), 0o755);
  await writeFile(place("work", "key.txt"), "s3cret\n");
  await writeFile(place("project", "weir.yaml"), projectFile);
  await writeFile(place("work", "claims.json"), '{"iss": "https://issuer.example.com", "sub": "alice"}');
  const rules = join(data.path, "iam");
  await mkdir(rules, { mode: 0o700 });
  for (const [name, text] of Object.entries(ruleFiles)) {
    await writeFile(place("work", "iam", name), text);
    await writeFile(join(rules, name), text, { mode: 0o600 });
  }
  const sample = new URL("../../support/import-samples/stack-images.yml", import.meta.url);
  await copyFile(sample, place("stack", "stack.yml"));
  weir = await startWeir({ data: data.path, flags: ["--edition", "enterprise"] });
  await untilHistoryReplies(weir);
});

afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

const manifestOf = (kind: string, spec: object): string =>
  JSON.stringify({ apiVersion: "iam.service.com/v1", kind, metadata: { name: "deployers" }, spec });

/** Rules of the Weir, and of the directory where examples are typed. */
const ruleFiles: Readonly<Record<string, string>> = {
  "issuers.yaml": manifestOf("JwtIssuer", { iss: "https://issuer.example.com", aud: ["weir"] }),
  "policies.yaml": manifestOf("Policy", {
    statement: [{ sid: "1", effect: "Allow", action: ["Function:*", "Secret:*"], resource: ["*"] }],
  }),
  "roles.yaml": manifestOf("Role", { policy: ["deployers"], principal: { "jwt:sub": ["alice"] } }),
};

const projectFile = `version: 1
functions:
  hello:
    image: hello
    envProcess: cat
  upper:
    image: upper
    envProcess: tr a-z A-Z
    annotations:
      com.service.history.bodies: 1h
`;

describe("an example of the help", () => {
  test("that is not run is one, and there are others", () => {
    const lines = examples.map(({ line }) => line);
    expect(Object.keys(notRun).filter((line) => !lines.includes(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(60);
  });

  test.each(examples.filter(({ line }) => !(line in notRun)))("$line", async ({ command, line }) => {
    await deployMissing();
    const { code, stdout, stderr } = await type(line, directoryFor(command, line));
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(stderr).not.toContain("defect");
  });
});

/** Some examples are typed in a project, some beside a stack file. */
function directoryFor(command: string, line: string): string {
  if (line.includes("stack.yml")) return "stack";
  return ["up", "build"].includes(command) || line.includes("weir generate") ? "project" : "work";
}

/** Other examples delete them, or scale them to zero. */
async function deployMissing(): Promise<void> {
  const headers = { authorization: weir.authorization };
  for (const [service, envProcess, annotations] of [
    ["hello", "cat", {}],
    ["upper", "tr a-z A-Z", { "com.service.history.bodies": "1h" }],
  ] as const) {
    const found = await fetch(`${weir.url}/system/function/${service}`, { headers });
    await found.text();
    if (found.status === 200) continue;
    const body = JSON.stringify({ service, image: service, envProcess, annotations });
    const put = await fetch(`${weir.url}/system/functions?wait=60s`, { method: "PUT", headers, body });
    expect(put.status, await put.text()).toBe(202);
  }
}

interface TypedEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function type(line: string, directory: string): Promise<TypedEnd> {
  const PATH = `${join(person.home, "bin")}:${environment()["PATH"] ?? ""}`;
  const env = { HOME: person.home, PATH, WEIR_DATA: weir.data, ...gatewayEnvironment(weir) };
  const options = { cwd: join(person.home, directory), env };
  return await promisify(execFile)("sh", ["-c", line], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (err: unknown) => err as TypedEnd,
  );
}
