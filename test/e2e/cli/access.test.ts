import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";

import { storedCredentials } from "../../../runtime/cli/gateways/stored-credentials.ts";
import { openCliHome, type CliHome, type CommandEnd, type CommandOptions } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** Who calls which gateway: login, logout, whoami, context, as processes, against a real Weir. */
let project: TempDirectory;
let weir: WeirProcess;
let person: CliHome;
const run = (args: readonly string[], options?: CommandOptions): Promise<CommandEnd> => person.run(args, options);
const config = (name: string): string => join(person.home, ".config", "weir", name);
const login = (...args: readonly string[]): Promise<CommandEnd> =>
  run(["login", weir.url, "--password-stdin", ...args], { input: `${weir.password}\n` });

beforeAll(async () => {
  project = await tempDirectory("cli-access");
  weir = await startWeir({ data: join(project.path, ".weir"), flags: ["--edition", "community"] });
});

beforeEach(async () => {
  person = await openCliHome();
  return () => person[Symbol.asyncDispose]();
});

afterAll(async () => {
  await weir?.stop();
  await project?.remove();
});

describe("weir login", () => {
  test("tries the credentials and stores them for the address, for this user alone", async () => {
    expect(await run(["list", "--gateway", weir.url])).toEqual({
      code: 4,
      stdout: "",
      stderr: `Cannot answer this request: it has no credentials\nTry: weir login ${weir.url}\n`,
    });
    const { code, stdout, stderr } = await login();
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toBe(
      `Signed in to ${weir.url} as admin\nOther commands use http://127.0.0.1:8080 (the default); name this one with --gateway, or store it with --name\n`,
    );
    expect(parse(await readFile(config("credentials.yaml"), "utf8"))).toEqual({
      [weir.url]: { kind: "basic", user: "admin", password: weir.password },
    });
    expect((await stat(config("credentials.yaml"))).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(config("credentials.yaml")))).mode & 0o777).toBe(0o700);
    expect((await run(["list", "--gateway", weir.url])).code).toBe(0);
    // Exactly this address.
    const other = weir.url.replace("127.0.0.1", "localhost");
    expect((await run(["list", "--gateway", other])).code).toBe(4);
  });

  test("with --name makes a context, the current one", async () => {
    expect(await login("--name", "local")).toEqual({
      code: 0,
      stdout: "",
      stderr: `Signed in to ${weir.url} as admin\nContext "local" is the current one\n`,
    });
    expect(await run(["whoami"])).toMatchObject({
      code: 0,
      stdout: `gateway  ${weir.url} (context "local")\nuser     admin\nedition  community\nversion  0.1.0\n`,
    });
  });

  test("reads a password of a file, and of a pipe without the end of its line", async () => {
    await writeFile(join(person.home, "password"), weir.password);
    expect((await run(["login", weir.url, "--password-file", "password"])).code).toBe(0);
    expect(
      (await run(["login", "--gateway", weir.url, "--password-stdin"], { input: `${weir.password}\r\n` })).code,
    ).toBe(0);
  });

  test.each<readonly [string, readonly string[], string, number, RegExp]>([
    [
      "a wrong password",
      ["--password-stdin"],
      "c4nary",
      4,
      /^Cannot sign in to http:.*: user "admin" or the password is wrong\n$/,
    ],
    ["a wrong user", ["--user", "root", "--password-stdin"], "c4nary", 4, /: user "root" or the password is wrong\n$/],
    ["a token where there is no IAM", ["--token-file", "token"], "", 4, /: the token is wrong\n$/],
    ["no password", [], "", 2, /there is no terminal; give --password-stdin, --password-file or --token-file\n$/],
    ["an empty password", ["--password-stdin"], "\n", 2, /^Cannot read a password: standard input is empty\n$/],
    ["a name that is none", ["--name", "-x", "--password-stdin"], "c4nary", 2, /^Cannot use context name "-x": /],
    ["SSO", ["--sso"], "", 4, /^Cannot sign in by SSO: this gateway has no IAM\n$/],
    ["a device", ["--device"], "", 4, /^Cannot sign in by SSO: this gateway has no IAM\n$/],
    [
      "a password as a flag",
      ["--password", "c4nary"],
      "",
      2,
      /^Cannot use --password: .*use --password-file or --password-stdin\n$/,
    ],
  ])("with %s stores nothing", async (_, args, input, code, message) => {
    await writeFile(join(person.home, "token"), "c4nary.c4nary");
    const ended = await run(["login", weir.url, "--debug", ...args], { input });
    expect(ended).toMatchObject({ code, stdout: "" });
    const said = ended.stderr.replaceAll(/^(?:[<>] |  [a-z]|CliError|    at ).*\n/gm, "");
    expect(said).toMatch(message);
    expect(ended.stderr).not.toContain("c4nary");
    expect(ended.stderr).not.toContain(Buffer.from("admin:c4nary").toString("base64"));
    await expect(readdir(dirname(config("x")))).rejects.toThrow("ENOENT");
  });

  test("shows no password with --debug", async () => {
    const { code, stderr } = await login("--debug");
    expect(code).toBe(0);
    expect(stderr).toContain(`> GET ${weir.url}/system/info\n`);
    expect(stderr).toContain("  authorization: …\n");
    for (const secret of [weir.password, weir.authorization.replace("Basic ", "")])
      expect(stderr).not.toContain(secret);
  });

  test("to an address that is none, or over http to another machine, sends nothing", async () => {
    expect(await run(["login", "ftp://weir", "--password-stdin"], { input: "c4nary" })).toMatchObject({
      code: 2,
      stderr: 'Cannot use gateway "ftp://weir" of the command line: its scheme is neither http nor https\n',
    });
    expect(await run(["login", "http://weir.example.com", "--password-stdin"], { input: "c4nary" })).toMatchObject({
      code: 2,
      stderr:
        "Cannot send credentials to http://weir.example.com: without TLS anybody on the way can read them; use https, or say --insecure-http\n",
    });
  });
});

describe("weir logout", () => {
  test("removes what is stored for one gateway, or for all", async () => {
    await login("--name", "local");
    expect((await run(["logout"])).stderr).toBe(`Signed out of ${weir.url}\n`);
    expect((await run(["list"])).code).toBe(4);
    expect(await run(["logout", weir.url])).toEqual({
      code: 0,
      stdout: "",
      stderr: `No credentials are stored for ${weir.url}\n`,
    });
    await login();
    expect(await run(["logout", "--all"])).toMatchObject({
      code: 2,
      stderr: 'Cannot ask "Remove the credentials of every gateway?": there is no terminal; say --yes\n',
    });
    expect((await run(["logout", "--all", "--yes"])).stderr).toBe("The credentials of 1 gateway are removed\n");
    expect(await readFile(config("credentials.yaml"), "utf8")).not.toContain(weir.password);
  });
});

describe("the Weir of a directory", () => {
  test("is used there and below, with its own credentials", async () => {
    const below = join(project.path, "src", "deep");
    await mkdir(below, { recursive: true });
    for (const directory of [project.path, below]) {
      const { code, stdout } = await run(["whoami", "-o", "json"], { directory });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toEqual({
        gateway: weir.url,
        source: ".weir/address",
        user: "admin",
        edition: "community",
        version: "0.1.0",
      });
    }
    expect((await run(["whoami", "-o", "name", "--gateway", weir.url], { directory: below })).stdout).toBe("admin\n");
  });

  test("comes after weir.yaml, which may name another, and that one gets no credentials of the environment", async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      seen.push(headers.authorization);
      response.end("[]");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const directory = join(project.path, "elsewhere");
    await mkdir(directory);
    await writeFile(join(directory, "weir.yaml"), `version: 1\ngateway: ${other}\nfunctions: {}\n`);
    await login("--name", "local");
    const environment = { WEIR_TOKEN: "c4nary" };
    expect(await run(["list"], { directory, environment })).toMatchObject({
      code: 0,
      stderr: `Using ${other} of weir.yaml, not ${weir.url} of the current context "local"\n`,
    });
    expect(await run(["list", "-q", "--gateway", other], { directory, environment })).toMatchObject({
      code: 0,
      stderr: "",
    });
    server.close();
    expect(seen).toEqual([undefined, "Bearer c4nary"]);
  });
});

describe("weir context", () => {
  test("stores gateways under names, and chooses one", async () => {
    expect(await run(["context", "list", "-o", "json"])).toMatchObject({ code: 0, stdout: "[]\n" });
    expect(await run(["context", "set", "prod", "--gateway", "Weir.example.com/", "-n", "dev"])).toEqual({
      code: 0,
      stdout: "",
      stderr: 'Context "prod" is stored; use it with --context prod, or: weir context use prod\n',
    });
    await run(["context", "set", "local", "--gateway", weir.url, "--ca-file", "ca.pem", "--tls-insecure"]);
    expect(await run(["contexts", "use", "local"])).toMatchObject({
      code: 0,
      stderr: `Context "local" is the current one: ${weir.url}\n`,
    });
    await run(["context", "set", "prod", "-n", "test"]);
    const words = (await run(["context", "ls"])).stdout.split("\n").map((line) => line.trim().split(/ +/));
    expect(words).toEqual([
      ["NAME", "GATEWAY", "NAMESPACE"],
      ["*", "local", weir.url],
      ["prod", "https://weir.example.com", "test"],
      [""],
    ]);
    const { stdout } = await run(["context", "list", "-o", "json"]);
    expect(JSON.parse(stdout)).toEqual([
      { name: "local", current: true, gateway: weir.url, caFile: join(person.home, "ca.pem"), tlsInsecure: true },
      { name: "prod", current: false, gateway: "https://weir.example.com", namespace: "test" },
    ]);
    expect((await run(["context", "list", "-o", "name"])).stdout).toBe("local\nprod\n");
  });

  test("is asked for by flag and variable, with its namespace", async () => {
    await login("--name", "local");
    await run(["context", "set", "dev", "--gateway", weir.url, "-n", "nowhere"]);
    for (const options of [{ environment: { WEIR_CONTEXT: "dev" } }, {}]) {
      const { code, stderr } = await run(["list", ...("environment" in options ? [] : ["--context", "dev"])], options);
      // The community edition has one namespace.
      expect(code).toBe(4);
      expect(stderr).toContain('"nowhere"');
    }
    expect((await run(["list", "--context", "dev", "-n", "functions"])).code).toBe(0);
  });

  test.each([
    [["use", "lcal"], 'Cannot use context "lcal": there is none; did you mean "local"?\nTry: weir context list\n'],
    [["delete", "local", "other", "--yes"], 'Cannot use context "other": there is none\nTry: weir context list\n'],
    [["delete", "local"], 'Cannot ask "Delete context "local"?": there is no terminal; say --yes\n'],
    [["set", "new"], 'Cannot set context "new": it is new and needs --gateway\n'],
    [["set", "local", "--gateway", "a b"], 'Cannot use gateway "a b" of --gateway: it is not a URL\n'],
    [["set", "a/b", "--gateway", "a"], 'Cannot use context name "a/b": it must be '],
  ])("%j is exit code 2, and changes nothing", async (args, message) => {
    await run(["context", "set", "local", "--gateway", "https://weir.example.com"]);
    const before = await readFile(config("contexts.yaml"), "utf8");
    const { code, stdout, stderr } = await run(["context", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(await readFile(config("contexts.yaml"), "utf8")).toBe(before);
  });

  test("is deleted, and then is not the current one", async () => {
    await run(["context", "set", "a", "--gateway", "https://a"]);
    await run(["context", "set", "b", "--gateway", "https://b"]);
    await run(["context", "use", "b"]);
    expect(await run(["context", "rm", "a", "b", "--yes"])).toEqual({
      code: 0,
      stdout: "",
      stderr: 'Deleted contexts "a", "b"\n',
    });
    expect(parse(await readFile(config("contexts.yaml"), "utf8"))).toEqual({ contexts: {} });
  });
});

describe("weir version", () => {
  test("shows the client and the gateway", async () => {
    const { code, stdout } = await run(["version", "-o", "json"], { directory: project.path });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      client: { release: "0.1.0" },
      gateway: { address: weir.url, release: "0.1.0", apiVersion: "1.0", provider: "weir-local", edition: "community" },
    });
    expect((await run(["version", "--client"])).stdout).toBe("client  0.1.0\n");
  });

  test("shows the client also when the gateway does not tell", async () => {
    expect(await run(["version", "--gateway", weir.url])).toEqual({
      code: 4,
      stdout: "client  0.1.0\n",
      stderr: `Cannot answer this request: it has no credentials\nTry: weir login ${weir.url}\n`,
    });
  });
});

/** Whether a process has begun to write a file and not ended. */
function hasHalfFile(file: string): boolean {
  const name = basename(file);
  return readdirSync(dirname(file)).some((each) => /^\.[0-9a-f]{12}\.new$/.test(each.slice(name.length)));
}

describe("files of credentials and contexts", () => {
  test("lose nothing of 10 processes that write at the same time", async () => {
    const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const numbers = Array.from({ length: 10 }, (_, index) => index);
    const ends = await Promise.all(
      numbers.map((number) =>
        run(["login", `http://127.0.0.1:${port}/${number}`, "--name", `n${number}`, "--password-stdin"], {
          input: `password ${number}`,
        }),
      ),
    );
    server.close();
    expect(ends.map(({ code }) => code)).toEqual(numbers.map(() => 0));
    for (const number of numbers)
      expect(await storedCredentials(config("credentials.yaml"), `http://127.0.0.1:${port}/${number}`)).toEqual({
        kind: "basic",
        user: "admin",
        password: `password ${number}`,
      });
    const { stdout } = await run(["context", "list", "-o", "name"]);
    expect(stdout.trim().split("\n").toSorted()).toEqual(numbers.map((number) => `n${number}`).toSorted());
    expect((await readdir(dirname(config("x")))).toSorted()).toEqual(["contexts.yaml", "credentials.yaml"]);
  });

  test("are whole after kill -9 of a process that writes, and the next writer does not wait", async () => {
    const file = config("credentials.yaml");
    const main = fileURLToPath(new URL("../../support/mains/endless-writer.ts", import.meta.url));
    const addresses = Array.from({ length: 8 }, (_, index) => `https://gateway-${index}`);
    let hits = 0;
    for (const [index, address] of addresses.entries()) {
      // A kill may come after the write that it is meant for.
      if (hits === 3) break;
      const child = spawn(process.execPath, [main, file, address], { stdio: "inherit" });
      const ended = once(child, "exit");
      await eventually(async () => (await storedCredentials(file, address)) !== undefined, { what: "a first write" });
      await eventually(() => hasHalfFile(file) && child.kill("SIGKILL"), { what: "a write", every: 0 });
      await ended;
      if (hasHalfFile(file)) hits++;
      for (const each of addresses.slice(0, index + 1)) {
        const found = await storedCredentials(file, each);
        expect(found?.kind === "bearer" && found.token).toMatch(/^(\d)\1{199999}$/);
      }
    }
    expect(hits).toBeGreaterThan(0);
    expect((await login()).code).toBe(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("that others can read are not used", async () => {
    await login("--name", "local");
    await chmod(config("credentials.yaml"), 0o644);
    for (const args of [["list"], ["logout"]])
      expect(await run(args)).toEqual({
        code: 4,
        stdout: "",
        stderr: `Cannot use credentials: "${config("credentials.yaml")}" can be read by others; chmod 600 it\n`,
      });
  });

  test("that cannot be read or written are named", async () => {
    await mkdir(dirname(config("x")), { recursive: true });
    await writeFile(config("contexts.yaml"), "a: [");
    expect(await run(["list"])).toMatchObject({
      code: 2,
      stderr: `Cannot read "${config("contexts.yaml")}": it is not YAML; correct or remove it\n`,
    });
    await writeFile(join(person.home, "file"), "");
    const environment = { XDG_CONFIG_HOME: join(person.home, "file") };
    expect(await run(["context", "set", "a", "--gateway", "b"], { environment })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Cannot (?:read|change) ".*contexts\.yaml": E[A-Z]+: /) as string,
    });
  });
});
