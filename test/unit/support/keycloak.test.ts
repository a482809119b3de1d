import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { startKeycloak } from "../../support/keycloak.ts";
import { machineLock } from "../../support/machine-lock.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

/** Programs in the place of Keycloak that do not come to serve. */
let place: TempDirectory;
const lock = `keycloak-test-${process.pid}`;
const started = () => join(place.path, "started");

beforeEach(async () => {
  place = await tempDirectory("no-keycloak");
});
afterEach(() => place.remove());

/** Makes what a distribution consists of; its program notes its process and directory, then goes on as in `script`. */
async function distribution(script: string) {
  for (const folder of ["bin", "conf", "providers", "themes", "lib/quarkus"])
    await mkdir(join(place.path, folder), { recursive: true });
  await writeFile(join(place.path, "lib", "quarkus-run.jar"), "");
  await writeFile(join(place.path, "bin", "kc.sh"), `echo "$$ $PWD" > '${started()}'\n${script}\n`);
  return { directory: place.path, java: "java" };
}

/** Its process and the directory it ran in. */
async function run() {
  const [, pid = "", home = ""] = /^(\d+) (.*)\n$/.exec(await readFile(started(), "utf8")) ?? [];
  return { pid: Number(pid), home };
}

/** Would wait without end while somebody holds the lock. */
async function isUnlocked(): Promise<boolean> {
  const held = await machineLock(lock);
  await held.release();
  return true;
}

test("a distribution that cannot be copied holds neither lock nor home", async () => {
  await expect(startKeycloak({ directory: place.path, java: "java" }, { lock })).rejects.toThrow("ENOENT");
  expect(await isUnlocked()).toBe(true);
});

test("a program that ends leaves neither lock nor home, and its output is shown", async () => {
  const start = startKeycloak(await distribution("echo out of memory >&2; exit 3"), { lock });
  await expect(start).rejects.toThrow(/Cannot start Keycloak: Error: it ended\nout of memory\n/);
  expect(existsSync((await run()).home)).toBe(false);
  expect(await isUnlocked()).toBe(true);
});

test("a program that does not even end at SIGTERM is killed, and leaves neither lock nor home", async () => {
  const script = "trap '' TERM\nwhile :; do sleep 1; done";
  const start = startKeycloak(await distribution(script), { lock, startTimeout: 2_000, stopTimeout: 100 });
  await expect(start).rejects.toMatchObject({
    error: { message: expect.stringContaining("Keycloak to end") as string },
    suppressed: { message: expect.stringContaining("Cannot start Keycloak") as string },
  });
  const { pid, home } = await run();
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  expect(existsSync(home)).toBe(false);
  expect(await isUnlocked()).toBe(true);
});
