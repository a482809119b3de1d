import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const setup = fileURLToPath(new URL("../../scripts/setup.js", import.meta.url));

let place: TempDirectory;

/** A repository whose npm only notes how it was called. */
async function makeRepository(npm: string): Promise<void> {
  await mkdir(join(place.path, "scripts"), { recursive: true });
  await mkdir(join(place.path, "tools"), { recursive: true });
  await copyFile(setup, join(place.path, "scripts", "setup.js"));
  await writeFile(join(place.path, "package.json"), '{"type": "module"}');
  await writeFile(join(place.path, "package-lock.json"), "{}");
  await writeFile(join(place.path, "tools", "npm"), `#!/bin/sh\necho "$@" >> calls\n${npm}\n`);
  await chmod(join(place.path, "tools", "npm"), 0o755);
}

const works = "/bin/mkdir -p node_modules/.bin";

function run(): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const environment = { PATH: join(place.path, "tools") };
    execFile(process.execPath, ["scripts/setup.js"], { cwd: place.path, env: environment }, (err, stdout, stderr) => {
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
    expect(first.stdout).toMatch(/^Installing npm packages, .*\n$/);
    expect(await run()).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await calls()).toEqual([
      "ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error",
    ]);
  });

  test("installs again when the lockfile has changed", async () => {
    await makeRepository(works);
    await run();
    await writeFile(join(place.path, "package-lock.json"), '{"other": true}');
    expect((await run()).code).toBe(0);
    expect(await calls()).toHaveLength(2);
  });

  test("installs once when several start together, also after one that died", async () => {
    await makeRepository(works);
    await writeFile(join(place.path, ".setup.lock"), "999999999");
    const outcomes = await Promise.all(Array.from({ length: 4 }, run));
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(await calls()).toHaveLength(1);
    expect(await readdir(place.path)).not.toContain(".setup.lock");
  });

  test("says what failed, and tries again next time", async () => {
    await makeRepository("echo broken >&2; exit 7");
    expect(await run()).toMatchObject({
      code: 1,
      stderr: 'broken\nCannot install npm packages: "npm ci" failed (exit code 7), see above\n',
    });
    await makeRepository(works);
    expect((await run()).code).toBe(0);
  });

  test("does not let a Node that cannot run hide the one that does", async () => {
    await makeRepository(`${works}; /bin/ln -s /bin/false node_modules/.bin/node`);
    expect((await run()).code).toBe(0);
    expect(await readdir(join(place.path, "node_modules", ".bin"))).toEqual([]);
  });
});
