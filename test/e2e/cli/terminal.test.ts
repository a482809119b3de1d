import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { storedCredentials } from "../../../runtime/cli/gateways/stored-credentials.ts";
import { environment } from "../../../runtime/process/settings.ts";
import { cliCommand, gatewayEnvironment, openCliHome, type CliHome } from "../../support/cli-home.ts";
import { openPseudoTerminal, openTerminalOf, type PseudoTerminal } from "../../support/pseudo-terminal.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** The command as a person at a terminal sees it, against a real Weir. */
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;
const terminal = (args: readonly string[], env: Record<string, string> = {}, columns = 80): PseudoTerminal =>
  openPseudoTerminal(args, { home: person.home, environment: env, columns });
const enter = "\r";
const ctrlC = "\u0003";
const escape = "\u001B";
/** Any six characters of it in a row: fewer are in a port, a length or a time now and then. */
const passwordIn = (output: string): readonly string[] =>
  Array.from({ length: weir.password.length - 5 }, (_none, at) => weir.password.slice(at, at + 6)).filter((part) =>
    output.includes(part),
  );
const stored = () => storedCredentials(join(person.home, ".config", "weir", "credentials.yaml"), weir.url);

beforeAll(async () => {
  data = await tempDirectory("cli-terminal");
  weir = await startWeir({ data: data.path });
  for (const [service, envProcess] of [
    ["upper", "tr a-z A-Z"],
    ["lower-with-a-long-name", "tr A-Z a-z"],
  ] as const) {
    const reply = await fetch(`${weir.url}/system/functions?wait=60s`, {
      method: "PUT",
      headers: { authorization: weir.authorization },
      body: JSON.stringify({ service, image: service, envProcess }),
    });
    expect(reply.status).toBe(202);
  }
});

beforeEach(async () => {
  person = await openCliHome();
  return () => person[Symbol.asyncDispose]();
});

afterAll(async () => {
  await weir?.stop();
  await data?.remove();
});

describe("weir login", () => {
  test("asks for address, user and password, and shows no letter of the password", async () => {
    await using at = terminal(["login"]);
    await at.shows("Address of the gateway");
    at.type(`${weir.url}${enter}`);
    await at.shows("User");
    await at.shows("dmin");
    at.type(enter);
    await at.shows("Password of admin");
    for (const letter of weir.password) at.type(letter);
    at.type(enter);
    await at.shows(`Signed in to ${weir.url} as admin`);
    const { code, output, isSane } = await at.end();
    expect({ code, isSane }).toEqual({ code: 0, isSane: true });
    const [, shown = ""] = output.split("Password of admin");
    expect(passwordIn(output)).toEqual([]);
    // No letter alone, either: what comes after each key is a mark.
    const marks = stripVTControlCharacters(shown.slice(0, shown.lastIndexOf("Password of admin")));
    expect(marks).toMatch(/^[^0-9A-Za-z]*$/);
    expect(await stored()).toEqual({ kind: "basic", user: "admin", password: weir.password });
  });

  test("asks only for what the command line does not say", async () => {
    await using at = terminal(["login", weir.url, "--user", "admin"]);
    await at.shows("Password of admin");
    at.type(`${weir.password}${enter}`);
    await at.shows("Signed in");
    const { code, output } = await at.end();
    expect(code).toBe(0);
    expect(output).not.toMatch(/Address of the gateway|User\b/);
  });

  test("takes the gateway of the directory for granted, and no empty password", async () => {
    await using at = terminal(["login"], { WEIR_GATEWAY: weir.url });
    await at.shows("Address of the gateway");
    at.type(enter);
    await at.shows("User");
    at.type(`root${enter}`);
    await at.shows("Password of root");
    at.type(enter);
    await at.shows("It cannot be empty");
    at.type(`wrong${enter}`);
    await at.shows(`Cannot sign in to ${weir.url}: user "root" or the password is wrong`);
    expect(await at.end()).toMatchObject({ code: 4, isSane: true });
    expect(await stored()).toBeUndefined();
  });

  test("asks nothing with --no-input", async () => {
    await using at = terminal(["login", weir.url, "--no-input"]);
    await at.shows("give --password-stdin, --password-file or --token-file");
    expect((await at.end()).code).toBe(2);
  });

  test("reads no password of a terminal, which would show it", async () => {
    await using at = terminal(["login", weir.url, "--password-stdin"]);
    await at.shows("Cannot read a password: standard input is a terminal; pipe it in");
    expect(await at.end()).toMatchObject({ code: 2, isSane: true });
  });

  test("survives a terminal that changes its size in the middle of each question", async () => {
    await using at = terminal(["login"]);
    await at.shows("Address of the gateway");
    at.resize(20, 5);
    at.type(weir.url.slice(0, 12));
    at.resize(200, 50);
    at.type(`${weir.url.slice(12)}${enter}`);
    await at.shows("User");
    at.resize(10, 3);
    at.type(enter);
    await at.shows("Password");
    at.type(weir.password.slice(0, 5));
    at.resize(80, 24);
    at.type(`${weir.password.slice(5)}${enter}`);
    await at.shows("Signed in");
    const { code, output, isSane } = await at.end();
    expect({ code, isSane }).toEqual({ code: 0, isSane: true });
    expect(passwordIn(output)).toEqual([]);
  });
});

describe("Ctrl-C leaves a terminal as it was, and nothing behind", () => {
  /** What is typed at each question before the one that Ctrl-C ends. */
  const steps: readonly (readonly [string, readonly (readonly [question: string, answer: string])[]])[] = [
    ["the first question", []],
    ["the second question", [["Address of the gateway", enter]]],
    [
      "the password",
      [
        ["Address of the gateway", enter],
        ["User", enter],
      ],
    ],
  ];
  const last = ["Address of the gateway", "User", "Password of admin"];

  describe.each([
    ["Ctrl-C", ctrlC],
    ["Ctrl-D", "\u0004"],
  ])("%s", (_, key) => {
    test.each(steps)("at %s", async (_name, answers) => {
      await using at = terminal(["login"], { WEIR_GATEWAY: weir.url });
      for (const [question, answer] of answers) {
        await at.shows(question);
        at.type(answer);
      }
      await at.shows(last[answers.length] ?? "");
      at.type("abc");
      at.type(key);
      expect(await at.end()).toMatchObject({ code: 130, isSane: true });
      expect(await stored()).toBeUndefined();
    });
  });

  test("at a confirmation", async () => {
    await using at = terminal(["logout", "--all"]);
    await at.shows("Remove the credentials of every gateway?");
    at.type(ctrlC);
    expect(await at.end()).toMatchObject({ code: 130, isSane: true });
  });

  test("while a reply is awaited", async () => {
    let asked = 0;
    const server = createServer(() => void asked++).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using at = terminal(["login", `http://127.0.0.1:${port}`, "--user", "me"]);
    await at.shows("Password of me");
    const request = once(server, "request");
    at.type(`secret${enter}`);
    await request;
    at.type(ctrlC);
    expect(await at.end()).toMatchObject({ code: 130, isSane: true });
    expect(asked).toBe(1);
    server.closeAllConnections();
    server.close();
  });

  test("and so does SIGTERM at a question", async () => {
    await using at = terminal(["login", weir.url]);
    await at.shows("User");
    process.kill(await at.pid(), "SIGTERM");
    expect(await at.end()).toMatchObject({ code: 130, isSane: true });
  });
});

describe("a confirmation", () => {
  test.each([
    ["Enter alone", enter, 1, "Nothing was done"],
    ["n", "n", 1, "Nothing was done"],
    ["y", "y", 0, "The credentials of 0 gateways are removed"],
  ])("with %s", async (_, key, code, said) => {
    await using at = terminal(["logout", "--all"]);
    await at.shows("Remove the credentials of every gateway?");
    at.type(key);
    await at.shows(said);
    expect(await at.end()).toMatchObject({ code, isSane: true });
  });
});

describe("a table", () => {
  const list = async (args: readonly string[], env: Record<string, string> = {}, columns = 80): Promise<string> => {
    await using at = terminal(["list", ...args], { ...gatewayEnvironment(weir), ...env }, columns);
    const { code, output } = await at.end();
    expect(code).toBe(0);
    return output;
  };

  test("has colours on states, and nowhere else", async () => {
    const output = await list([]);
    const [, ...coloured] = output.split(`${escape}[32m`);
    expect(coloured).toHaveLength(2);
    for (const text of coloured)
      expect(text.split(`${escape}[39m`)).toEqual([
        expect.stringMatching(/^Ready *$/),
        expect.not.stringContaining(escape),
      ]);
  });

  test.each<readonly [string, readonly string[], Record<string, string>]>([
    ["NO_COLOR", [], { NO_COLOR: "1" }],
    ["TERM=dumb", [], { TERM: "dumb" }],
    ["--color never", ["--color", "never"], { FORCE_COLOR: "1" }],
    ["-o json", ["-o", "json"], {}],
    ["-o yaml", ["-o", "yaml"], {}],
    ["-o name", ["-o", "name"], {}],
  ])("has no escape codes with %s", async (_, args, env) => {
    const output = await list(args, env);
    expect(output).toContain("upper");
    expect(output).not.toContain(escape);
  });

  test("is as wide as the terminal, and cut there", async () => {
    const narrow = (await list([], { NO_COLOR: "1" }, 30)).trim().split("\r\n");
    expect(narrow).toHaveLength(3);
    expect(narrow.filter((line) => line.endsWith("…"))).toHaveLength(3);
    for (const line of narrow) expect(line.length).toBe(30);
    expect(await list([], { NO_COLOR: "1" }, 200)).not.toContain("…");
  });

  test("has no escape codes when piped, unless they are forced, and is not cut", async () => {
    const env = gatewayEnvironment(weir);
    const piped = await person.run(["list"], { environment: { ...env, TERM: "xterm" } });
    expect(piped.stdout).toContain("lower-with-a-long-name");
    expect(piped.stdout + piped.stderr).not.toContain(escape);
    for (const forced of [
      await person.run(["list"], { environment: { ...env, FORCE_COLOR: "1" } }),
      await person.run(["list", "--color=always"], { environment: { ...env, NO_COLOR: "1" } }),
    ])
      expect(forced.stdout).toContain(`${escape}[32mReady`);
  });
});

test("help has no escape codes, on a terminal, either", async () => {
  await using at = terminal(["list", "--help"], { FORCE_COLOR: "1" });
  const { code, output } = await at.end();
  expect(code).toBe(0);
  expect(output).toContain("Usage: weir list");
  expect(output).not.toContain(escape);
});

test("bash completes commands, options and names of the gateway", async () => {
  const bin = join(person.home, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "weir"), `#!/bin/sh\nexec ${cliCommand.map((word) => `'${word}'`).join(" ")} "$@"\n`);
  await chmod(join(bin, "weir"), 0o755);
  await writeFile(
    join(person.home, "rc"),
    `PS1='> '\nbind 'set enable-bracketed-paste off'\neval "$(weir completion bash)"\necho complete\n`,
  );
  const env = { ...gatewayEnvironment(weir), PATH: `${bin}:${environment()["PATH"] ?? ""}` };
  await using at = openTerminalOf(["bash", "--noprofile", "--rcfile", "rc", "-i"], {
    home: person.home,
    environment: env,
  });
  await at.shows("complete");
  await at.shows("> ");
  const tab = async (typed: string, ...completed: readonly string[]): Promise<void> => {
    at.type(typed);
    // A gateway that does not reply within 300 ms gives no names: on a busy machine one asks again.
    const again = setInterval(() => at.type("\t"), 3_000);
    at.type("\t");
    for (const text of completed) await at.shows(text);
    clearInterval(again);
    at.type("\u0015");
  };
  await tab("weir who", "weir whoami ");
  await tab("weir describe up", "weir describe upper ");
  await tab("weir list --output=na", "weir list --output=name ");
  await tab("weir list --all-n", "weir list --all-namespaces ");
  await tab("weir login --ca-file r", "weir login --ca-file rc ");
  at.type(`exit${enter}`);
  expect((await at.end()).code).toBe(0);
});

test("a password that was typed is nowhere but in the file for it", async () => {
  await using at = terminal(["login", weir.url, "--debug"]);
  await at.shows("User");
  at.type(enter);
  await at.shows("Password");
  at.type(`${weir.password}${enter}`);
  await at.shows("Signed in");
  expect(passwordIn((await at.end()).output)).toEqual([]);
  expect(await readFile(join(person.home, ".config", "weir", "credentials.yaml"), "utf8")).toContain(weir.password);
});
