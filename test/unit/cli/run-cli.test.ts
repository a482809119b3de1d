import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";

import { describe, expect, test } from "vitest";

import { CliError } from "../../../runtime/cli/cli-error.ts";
import { exitCode } from "../../../runtime/cli/exit-code.ts";
import { nodeTooOld } from "../../../runtime/cli/node-version.ts";
import { runCli } from "../../../runtime/cli/run-cli.ts";
import { eventually } from "../../support/eventually.ts";
import { heardTerminal, type HeardTerminalOptions } from "../../support/heard-terminal.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

async function run(args: readonly string[], options?: HeardTerminalOptions) {
  const terminal = heardTerminal(options);
  const code = await runCli(args, terminal);
  return { code, ...terminal.written };
}

describe("help", () => {
  test.each([
    [["--help"]],
    [["-h"]],
    [["help"]],
    [["context", "--help"]],
    [["help", "context"]],
    [["login", "--help"]],
    [["help", "login"]],
    [["context", "set", "-h"]],
  ])("of weir %j is on stdout", async (args) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: weir /);
  });

  test("is as wide as the terminal, and 80 columns without one", async () => {
    const longest = (text: string): number => Math.max(...text.split("\n").map(({ length }) => length));
    const wide = await run(["context", "list", "--help"], { columns: () => 200 });
    const piped = await run(["context", "list", "--help"]);
    expect(longest(wide.stdout)).toBeGreaterThan(80);
    expect(longest(piped.stdout)).toBeLessThanOrEqual(80);
  });

  test("of a noun alone is on stderr, with exit code 2", async () => {
    for (const args of [[], ["context"]]) {
      const { code, stdout, stderr } = await run(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/^Usage: weir /);
    }
  });
});

test.each([[["-n", "dev", "list", "--help"]], [["--namespace=dev", "--debug", "secrets", "create", "--help"]]])(
  "options of any command may come first: %j",
  async (args) => {
    const { code, stdout } = await run(args);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: weir (list|secrets create) /)]);
  },
);

test("a file that cannot be used is a sentence, and no defect", async () => {
  await using place = await tempDirectory("run-cli-file");
  const file = join(place.path, "none", "password");
  const { code, stderr } = await run(["list", "--gateway", "http://127.0.0.1:1", "--password-file", file]);
  expect(code).not.toBe(exitCode.defect);
  expect(stderr).toContain(file);
  expect(stderr).not.toContain("ENOENT");
});

test.each([["--version"], ["-V"]])("weir %s prints the version alone", async (flag) => {
  const { code, stdout, stderr } = await run([flag]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe("a command line that cannot be run is exit code 2 with its reason and a hint", () => {
  test.each([
    [["lst"], `Cannot run "weir": unknown command 'lst'; did you mean one of list, ls?`, "weir --help"],
    [
      ["context", "lst"],
      `Cannot run "weir context": unknown command 'lst'; did you mean one of list, ls?`,
      "weir context --help",
    ],
    [["contexts", "use"], `Cannot run "weir context use": missing required argument 'name'`, "weir context use --help"],
    [["context", "ls", "--nam"], `Cannot run "weir context list": unknown option '--nam'`, "weir context list --help"],
    [
      ["context", "list", "x"],
      `Cannot run "weir context list": too many arguments. Expected 0 arguments but got 1`,
      "weir context list --help",
    ],
    [
      ["list", "-o", "xml"],
      `Cannot run "weir list": option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are table, json, yaml, name.`,
      "weir list --help",
    ],
    [
      ["completion", "csh"],
      `Cannot run "weir completion": command-argument value 'csh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish.`,
      "weir completion --help",
    ],
    [["list", "\u001B[2J"], String.raw`Cannot run "weir list": `, "weir list --help"],
  ])("%j", async (args, reason, hint) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(reason);
    expect(stderr.endsWith(`\nTry: ${hint}\n`)).toBe(true);
    expect(stderr).not.toContain("\u001B");
  });

  test.each([
    [["list", "--password", "c4nary"], "--password-file or --password-stdin"],
    [["list", "--password=c4nary"], "--password-file or --password-stdin"],
    [["login", "--token", "c4nary"], "--token-file or WEIR_TOKEN"],
  ])("%j, which shows a secret to everybody on this machine", async (args, instead) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    const flag = String(args[1]).split("=")[0] ?? "";
    expect(stderr).toBe(`Cannot use ${flag}: it would stand in the list of processes; use ${instead}\n`);
  });

  test.each([[["list", "--passwd=c4nary"]], [["--password=c4nary", "list"]], [["--token=c4nary"]]])(
    "%j, without the value",
    async (args) => {
      const { code, stderr } = await run(args);
      expect(code).toBe(2);
      expect(stderr).toContain("unknown option '--");
      expect(stderr).not.toContain("c4nary");
    },
  );

  test("a timeout that is none", async () => {
    for (const timeout of ["0", "x", "-1s", "999d"]) {
      const { code, stderr } = await run(["list", "--gateway", "http://127.0.0.1:1", `--timeout=${timeout}`]);
      expect(code).toBe(2);
      expect(stderr).toContain(`Cannot use --timeout "${timeout}": `);
    }
  });
});

test.each([
  [["contexts", "use", "--", "--help"]],
  [["contexts", "use", "--no-input", "--", "--help"]],
  [["context", "delete", "--yes", "--", "--help"]],
])("after -- words are no options: %j", async (args) => {
  expect(await run(args)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: 'Cannot use context "--help": there is none\nTry: weir context list\n',
  });
});

describe("a terminal that is interrupted", () => {
  /** `weir login --password-stdin` waits for a password that does not come. */
  const waiting = (abort: AbortController) =>
    run(["login", "http://127.0.0.1:1", "--password-stdin"], { input: new PassThrough(), signal: abort.signal });

  test("ends the command with exit code 130, and nothing is said", async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 20);
    expect(await waiting(abort)).toEqual({ code: 130, stdout: "", stderr: "" });
    expect(await waiting(abort)).toEqual({ code: 130, stdout: "", stderr: "" });
  });

  test("ends it within 200 ms, also when it does not listen", async () => {
    await using home = await tempDirectory("run-cli");
    const directory = join(home.path, ".config", "weir");
    await mkdir(directory, { recursive: true });
    // A process that lives has the lock.
    await writeFile(join(directory, "contexts.yaml.lock"), `${process.pid} ${hostname()} 000000000000`);
    const times: number[] = [];
    // The machine may have other things to do at one time, but not each time.
    for (let attempt = 0; attempt < 10 && !times.some((time) => time <= 200); attempt++) {
      const abort = new AbortController();
      const args = ["context", "set", "a", "--gateway", "https://a"];
      const end = run(args, { home: home.path, signal: abort.signal });
      await eventually(async () => (await readdir(directory)).length > 1, { what: "a command that waits" });
      const start = performance.now();
      abort.abort();
      expect(await end).toEqual({ code: 130, stdout: "", stderr: "" });
      times.push(performance.now() - start);
    }
    expect(Math.min(...times)).toBeLessThanOrEqual(200);
    await rm(join(directory, "contexts.yaml.lock"));
    // In a process of its own it would have ended.
    await eventually(async () => (await readdir(directory)).every((name) => name === "contexts.yaml"), {
      what: "its end",
    });
  });

  test("has another exit code when its reader is gone", async () => {
    const abort = new AbortController();
    abort.abort(new CliError(exitCode.done, ""));
    expect(await waiting(abort)).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

test.each([
  ["20.11.1", "Cannot start: weir needs Node 22.19 or newer, this is 20.11"],
  ["22.18.0", "Cannot start: weir needs Node 22.19 or newer, this is 22.18"],
  ["22.19.0", undefined],
  ["24.0.0", undefined],
  ["26.10.0", undefined],
])("Node.js %s: %s", (version, problem) => {
  expect(nodeTooOld(version)).toBe(problem);
});
