import { randomBytes, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import Type from "typebox";
import { Parse } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { SecretListItem } from "../../../runtime/api/schemas/secret.ts";
import {
  gatewayEnvironment,
  openCliHome,
  type CliHome,
  type CommandEnd,
  type CommandOptions,
} from "../../support/cli-home.ts";
import { descendants, livingProcess } from "../../support/process-tree.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** The commands of secrets, as processes, against a real Weir whose functions read what was stored. */
let data: TempDirectory;
/** Files with values; not below the person's home. */
let values: TempDirectory;
let weir: WeirProcess;
let person: CliHome;
const run = (args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> =>
  person.run(args, { ...options, environment: { ...gatewayEnvironment(weir), ...options.environment } });
const done = (line: string): CommandEnd => ({ code: 0, stdout: "", stderr: `${line}\n` });

beforeAll(async () => {
  data = await tempDirectory("cli-secrets");
  values = await tempDirectory("cli-secret-values");
  person = await openCliHome();
  weir = await startWeir({ data: data.path });
});
afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await values?.remove();
  await data?.remove();
});

const fileOf = async (name: string, value: string | Uint8Array): Promise<string> => {
  const path = join(values.path, name);
  await writeFile(path, value);
  return path;
};

/** Deploys a function, with secrets. */
async function deploy(service: string, secrets: readonly string[], envProcess: string): Promise<void> {
  const reply = await fetch(`${weir.url}/system/functions?wait=120s`, {
    method: "PUT",
    headers: { authorization: weir.authorization },
    body: JSON.stringify({ service, image: service, envProcess, secrets }),
  });
  expect([reply.status, await reply.text()]).toEqual([202, ""]);
}

const call = async (name: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${weir.url}/function/${name}`, { method: "POST" })).arrayBuffer());

/** Names of the secrets that there are. */
async function names(): Promise<readonly string[]> {
  const { code, stdout, stderr } = await run(["secrets", "list", "-o", "json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return Parse(Type.Array(SecretListItem), JSON.parse(stdout)).map(({ name }) => name);
}

test("a secret made by the command is one file, which holds exactly the file, input or literal that was given", async () => {
  const file = randomBytes(300);
  const input = randomBytes(70_000);
  expect(await run(["secrets", "create", "by-file", "--from-file", await fileOf("by-file", file)])).toEqual(
    done('Secret "by-file" is stored'),
  );
  expect(await run(["secret", "create", "by-input"], { input })).toEqual(done('Secret "by-input" is stored'));
  expect(await run(["secrets", "create", "by-literal", "--from-literal", "literal wörd\n"])).toMatchObject({ code: 0 });
  expect(await run(["secrets", "create", "by-line", "--trim"], { input: "a line\n" })).toMatchObject({ code: 0 });

  const given = {
    "by-file": file,
    "by-input": input,
    "by-line": Buffer.from("a line"),
    "by-literal": Buffer.from("literal wörd\n"),
  };
  expect(await names()).toEqual(Object.keys(given));
  await deploy("files", Object.keys(given), `sh -c 'ls "$SERVICE_SECRETS_DIR"'`);
  expect((await call("files")).toString()).toBe(`${Object.keys(given).join("\n")}\n`);
  for (const [name, value] of Object.entries(given)) {
    await deploy("one", [name], `sh -c 'cat "$SERVICE_SECRETS_DIR/${name}"'`);
    expect(await call("one")).toEqual(Buffer.from(value));
  }

  const changed = randomBytes(40);
  expect(await run(["secrets", "update", "by-literal"], { input: changed })).toEqual(
    done('Secret "by-literal" has its new value'),
  );
  expect(await call("one")).toEqual(changed);
  const replaced = ["secrets", "create", "by-literal", "--replace", "--from-file", await fileOf("by-literal", file)];
  expect(await run(replaced)).toEqual(done('Secret "by-literal" is stored'));
  expect(await call("one")).toEqual(file);
});

test("list shows who uses each, and one in use is deleted with --yes alone", async () => {
  for (const name of ["shared", "unused"])
    expect(await run(["secrets", "create", name], { input: "x" })).toMatchObject({ code: 0 });
  for (const service of ["user-b", "user-a"]) await deploy(service, ["shared"], "cat");
  const { code, stdout, stderr } = await run(["secrets", "ls"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.split("\n")[0]).toMatch(/^NAME +USED BY$/);
  expect(stdout).toMatch(/^shared +user-a, user-b$/m);
  expect(stdout).toMatch(/^unused$/m);

  expect(await run(["secrets", "delete", "shared"])).toEqual({
    code: 2,
    stdout: "",
    stderr: 'Cannot ask "Delete secret "shared", used by user-a, user-b?": there is no terminal; say --yes\n',
  });
  expect(await names()).toContain("shared");
  expect(await run(["secrets", "delete", "shared", "--yes"])).toEqual(
    done('Secret "shared" is deleted; used by user-a, user-b'),
  );
  expect(await run(["secrets", "rm", "unused", "--yes"])).toEqual(done('Secret "unused" is deleted'));
  const left = await names();
  expect(left).not.toContain("shared");
  expect(left).not.toContain("unused");
});

describe("what is refused", () => {
  const exactlyOne = /: give exactly one of --from-literal, --from-file or standard input\n$/;
  test.each([
    [["create", "two", "--from-file", "a", "--from-literal", "b"], 2, exactlyOne],
    [["create", "none"], 2, /^Cannot create secret "none": its value is empty\n$/],
    [["create", "Bad", "--from-literal", "b"], 2, /Cannot create secret "Bad": its name must be /],
    [["create", "lost", "--from-literal", "b", "-n", "nowhere"], 1, /\nCannot .*"nowhere"/],
    [["update", "missing", "--from-literal", "b"], 3, /\nCannot .*"missing".*\nTry: weir secrets list\n$/],
    [["delete", "missing", "--yes"], 3, /^Cannot .*"missing".*\nTry: weir secrets list\n$/],
    [["list", "-n", "nowhere"], 3, /^Cannot .*"nowhere".*\nTry: weir namespaces list\n$/],
    [["create", "key", "a value"], 2, /^Cannot run "weir secrets create": too many arguments/],
  ])("%j is exit code %i", async (args, exit, sentence) => {
    const before = await names();
    const { code, stdout, stderr } = await run(["secrets", ...args]);
    expect([code, stdout]).toEqual([exit, ""]);
    expect(stderr).toMatch(sentence);
    expect(await names()).toEqual(before);
  });

  test("a secret that is there already, with the command that changes it", async () => {
    expect(await run(["secrets", "create", "there"], { input: "first" })).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await run(["secrets", "create", "there"], { input: "second" });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Cannot create secret "there": .*\nTry: weir secrets update there\n$/);
    await deploy("one", ["there"], `sh -c 'cat "$SERVICE_SECRETS_DIR/there"'`);
    expect((await call("one")).toString()).toBe("first");
  });
});

describe("a canary", () => {
  const canary = `canary-${randomUUID()}`;
  /** Text that holds the value, or the administrator's password, in any of these forms. */
  const holds = (text: string): boolean =>
    [canary, weir.password].some((value) =>
      [value, Buffer.from(value).toString("base64").slice(0, 24), Buffer.from(value).toString("hex")].some((form) =>
        text.includes(form),
      ),
    ) || text.includes(weir.authorization.slice("Basic ".length));

  /** Runs a command, and reads the command lines of all processes that it is and starts until it has ended. */
  async function watched(args: readonly string[], options: CommandOptions = {}) {
    const seen = new Set<string>();
    let timer: NodeJS.Timeout | undefined;
    const started = (pid: number): void => {
      timer = setInterval(() => {
        for (const each of [livingProcess(pid), ...descendants(pid)]) if (each !== undefined) seen.add(each.command);
      }, 20);
    };
    const end = await run(args, { ...options, started });
    clearInterval(timer);
    return { ...end, commands: [...seen] };
  }

  test("is in no output, no file below the home, and no command line", async () => {
    const file = await fileOf("canary", canary);
    const offline = { environment: { WEIR_GATEWAY: "http://127.0.0.1:1" } };
    const runs: readonly (readonly [args: readonly string[], exit: number, options?: CommandOptions])[] = [
      [["create", "canary", "--from-file", file], 0],
      [["create", "canary", "--from-file", file], 1],
      [["create", "canary", "--replace"], 0, { input: canary }],
      [["update", "canary", "--trim"], 0, { input: `${canary}\n` }],
      [["create", "canary-2", "-n", "nowhere"], 1, { input: canary }],
      [["create", "canary-2", "-n", "kube-system"], 4, { input: canary }],
      [["update", "canary-2", "--from-file", file], 3],
      [["create", "Canary!"], 2, { input: canary }],
      [["create", "canary-2", "--from-file", file, "--from-literal", "x"], 2],
      [["create", "canary-2"], 2, { input: canary.repeat(40_000) }],
      [["create", "canary-2"], 5, { ...offline, input: canary }],
      [["list"], 0],
      [["list", "-o", "json"], 0],
    ];
    for (const [words, exit, options] of runs)
      for (const debug of [[], ["--debug"]]) {
        const args = ["secrets", ...words, ...debug];
        const { code, stdout, stderr, commands } = await watched(args, options);
        // With --debug the first one is there already.
        expect(code, `${args.join(" ")}: ${stderr}`).toBe(words === runs[0]?.[0] && debug.length > 0 ? 1 : exit);
        if (debug.length > 0 && code !== 2) expect(stderr).toMatch(/^> [A-Z]+ http/m);
        expect(holds(stdout + stderr), stdout + stderr).toBe(false);
        expect(commands.some((command) => command.includes("secrets"))).toBe(true);
        expect(commands.filter(holds)).toEqual([]);
      }
    await deploy("one", ["canary"], `sh -c 'cat "$SERVICE_SECRETS_DIR/canary"'`);
    expect((await call("one")).toString()).toBe(canary);
    expect(filesBelow(person.home).filter((path) => holds(path) || holds(readFileSync(path, "latin1")))).toEqual([]);
  });

  test("that is given as a literal is warned of, and in no output", async () => {
    for (const [words, exit] of [
      [["create", "literal", "--from-literal", canary], 0],
      [["update", "literal", `--from-literal=${canary}`], 0],
      [["create", "literal", "--from-literal", canary], 1],
      [["create", "literal", `--from-litteral=${canary}`], 2],
      [["create", "literal", canary], 2],
    ] as const) {
      const { code, stdout, stderr } = await run(["secrets", ...words, "--debug"]);
      expect(code).toBe(exit);
      expect(holds(stdout + stderr), stdout + stderr).toBe(false);
      if (exit !== 2) expect(stderr).toMatch(/^The value is in the shell's history and the list of processes; /);
    }
    expect(filesBelow(person.home).filter((path) => holds(readFileSync(path, "latin1")))).toEqual([]);
  });

  test("would be found: a function that returns it holds it", async () => {
    expect(await run(["secrets", "create", "seen"], { input: canary })).toMatchObject({ code: 0 });
    await deploy("one", ["seen"], `sh -c 'cat "$SERVICE_SECRETS_DIR/seen"'`);
    expect(holds((await call("one")).toString())).toBe(true);
    const literal = await watched(["secrets", "update", "seen", "--from-literal", canary]);
    expect(literal.commands.some(holds)).toBe(true);
  });
});

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());
}
