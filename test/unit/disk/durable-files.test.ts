import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

import {
  holdsNothing,
  makeDirectoryDurably,
  renameDurably,
  syncTree,
  writeFileDurably,
} from "../../../runtime/disk/durable-files.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

let place: TempDirectory;
const at = (...names: string[]) => join(place.path, ...names);
beforeEach(async () => {
  place = await tempDirectory("disk");
});
afterEach(() => place.remove());

test("a file is replaced, for its owner alone, and nothing else is left", async () => {
  await writeFileDurably(at("note"), "old");
  await writeFileDurably(at("note"), new Uint8Array([110, 101, 119]));
  expect(await readFile(at("note"), "utf8")).toBe("new");
  expect((await stat(at("note"))).mode & 0o777).toBe(0o600);
  expect(await readdir(place.path)).toEqual(["note"]);
});

test("a file that must be new does not replace another", async () => {
  await writeFileDurably(at("note"), "first", { replace: false, mode: 0o400 });
  await expect(writeFileDurably(at("note"), "second", { replace: false })).rejects.toThrow("EEXIST");
  expect(await readFile(at("note"), "utf8")).toBe("first");
  expect(await readdir(place.path)).toEqual(["note"]);
});

test("a file that cannot be written leaves nothing beside it", async () => {
  await mkdir(at("note"));
  await expect(writeFileDurably(at("note"), "text")).rejects.toThrow("EISDIR");
  await expect(writeFileDurably(at("missing", "note"), "text")).rejects.toThrow("ENOENT");
  expect(await readdir(place.path)).toEqual(["note"]);
});

test("an unfinished file can stand in another directory", async () => {
  await makeDirectoryDurably(at("a", "b"));
  await makeDirectoryDurably(at("a", "b"));
  expect((await stat(at("a"))).mode & 0o777).toBe(0o700);
  await writeFileDurably(at("a", "note"), "text", { staging: at("a", "b") });
  await renameDurably(at("a", "note"), at("a", "b", "moved"));
  expect(await readFile(at("a", "b", "moved"), "utf8")).toBe("text");
});

test("a tree is synced whatever is in it, and when there is none", async () => {
  await mkdir(at("tree", "below"), { recursive: true });
  await writeFile(at("tree", "file"), "text");
  await writeFile(at("tree", "below", "closed"), "text");
  await chmod(at("tree", "below", "closed"), 0o000);
  await symlink("nowhere", at("tree", "link"));
  await syncTree(at("tree"));
  await syncTree(at("missing"));
});

test.each([
  ["", true],
  [" \n", true],
  ["\0\0\0", true],
  ["\0a", false],
])("%j is blank: %j", (content, blank) => {
  expect(holdsNothing(content)).toBe(blank);
});

/** Files that write past `runtime/disk`, and why a power cut costs nothing there. */
const others: Readonly<Record<string, string>> = {
  "runtime/adapters/machine/local/confinement.ts": "in a directory that ends with the process",
  "runtime/adapters/machine/local/folders/copy-folder.ts": "the whole copy is synced before it gets its name",
  "runtime/adapters/machine/local/folders/kept-dependencies.ts": "the whole tree is synced before it gets its name",
  "runtime/adapters/machine/local/logs/replica-log.ts": "lines of a running replica",
  "runtime/adapters/machine/local/node-for-functions.ts": "in a directory that ends with the process",
  "runtime/adapters/machine/local/run-directory.ts": "names a directory that ends with the process",
  "runtime/adapters/machine/local/secret-mount.ts": "in a directory that ends with the process",
  "runtime/adapters/sqlite/database/sqlite-damage.ts": "damage is met again",
  "runtime/cli/calls/edit-body.ts": "a temporary file",
  "runtime/cli/gateways/locked-file.ts": "locks end with their process",
  "runtime/disk/durable-files.ts": "the one writer",
  "runtime/host/parts/history-child.ts": "a file of the kernel",
  "runtime/process/hold-lock.ts": "locks end with their process",
};

test("whatever must survive a power cut is written by the one writer", async () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const found: string[] = [];
  for await (const file of glob("runtime/**/*.ts", { cwd: root })) {
    if (file.startsWith("runtime/console/")) continue;
    const text = await readFile(join(root, file), "utf8");
    if (/\b(?:writeFile|writeFileSync|appendFile|copyFile|createWriteStream)\(/.test(text)) found.push(file);
  }
  expect(found.toSorted()).toEqual(Object.keys(others).toSorted());
});
