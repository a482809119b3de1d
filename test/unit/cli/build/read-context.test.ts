import { chmod, mkdir, rename, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { hashContext } from "../../../../runtime/cli/build/hash-context.ts";
import { readContext, unreadable } from "../../../../runtime/cli/build/read-context.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let directory: TempDirectory;
beforeEach(async () => {
  directory = await tempDirectory("context");
});
afterEach(() => directory.remove());

const write = async (files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [path, text] of Object.entries(files)) {
    const file = join(directory.path, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: 0o644 });
  }
};
const read = (use: "snapshot" | "image" = "image", dockerfile?: string) =>
  readContext(
    {
      directory: directory.path,
      project: directory.path,
      use,
      ...(dockerfile === undefined ? {} : { dockerfile: join(directory.path, dockerfile) }),
    },
    "Cannot build",
  );
const paths = async (...args: Parameters<typeof read>): Promise<readonly string[]> =>
  (await read(...args)).map(({ path }) => path);
const hash = async (): Promise<string> => hashContext(directory.path, await read(), "Cannot build");

describe("what counts", () => {
  test("is sorted by path, with directories and links", async () => {
    await write({ b: "", "a/z": "", "a/b/c": "", A: "" });
    await symlink("b", join(directory.path, "link"));
    expect(await paths()).toEqual(["A", "a", "a/b", "a/b/c", "a/z", "b", "link"]);
  });

  test("is less what .dockerignore leaves out, with what a line takes in again", async () => {
    await write({
      ".dockerignore": "# comment\nnode_modules\n*.log\n!keep.log\ndist/*\n!dist/kept\n",
      "node_modules/a/index.js": "",
      "keep.log": "",
      "drop.log": "",
      "deep/drop.log": "",
      "dist/gone": "",
      "dist/kept/file": "",
    });
    expect(await paths()).toEqual([
      ".dockerignore",
      "deep",
      "deep/drop.log",
      "dist",
      "dist/kept",
      "dist/kept/file",
      "keep.log",
    ]);
  });

  test("is never .git, also when lines take things in again", async () => {
    await write({ ".dockerignore": "a\n!a/b\n", ".git/config": "", "a/b": "", "a/c": "" });
    expect(await paths()).toEqual([".dockerignore", "a/b"]);
  });

  test("is decided by the Dockerfile's own ignore file, if there is one", async () => {
    await write({ ".dockerignore": "a\n", "other.dockerignore": "b\n", other: "", a: "", b: "" });
    expect(await paths("image", "other")).toContain("a");
    expect(await paths("image", "other")).not.toContain("b");
    expect(await paths("image", "Dockerfile")).not.toContain("a");
  });
});

describe("the data of a Weir", () => {
  test("may not come into an image", async () => {
    await write({ ".weir/credentials/basic-auth-password": "secret", "app/.weir/address": "" });
    await expect(read("image")).rejects.toMatchObject({
      exit: exitCode.usage,
      message: expect.stringMatching(/^Cannot build: its folder holds "(?:app\/)?\.weir", which has credentials/),
    });
  });

  test("is no part of an image if .dockerignore lists it, and never of a snapshot", async () => {
    await write({ ".weir/credentials/basic-auth-password": "secret", file: "" });
    expect(await paths("snapshot")).toEqual(["file"]);
    await write({ ".dockerignore": ".weir\n" });
    expect(await paths("image")).toEqual([".dockerignore", "file"]);
  });
});

describe("what is refused", () => {
  test("a link out of the project, but not if it is left out", async () => {
    await symlink("/etc/hosts", join(directory.path, "hosts"));
    await expect(read()).rejects.toMatchObject({
      exit: exitCode.usage,
      message: 'Cannot build: link "hosts" leaves the project, to "/etc/hosts"',
    });
    await write({ ".dockerignore": "hosts\n" });
    expect(await paths()).toEqual([".dockerignore"]);
  });

  test("more than 512 MiB, before any of it is read", async () => {
    await write({ large: "" });
    await truncate(join(directory.path, "large"), 512 * 2 ** 20);
    expect(await paths()).toEqual(["large"]);
    await write({ more: "x" });
    await expect(read()).rejects.toMatchObject({
      exit: exitCode.usage,
      message: "Cannot build: its folder holds more than 512 MiB; list what it does not need in .dockerignore",
    });
  });

  test.each([
    ["EACCES", "this user has no right to"],
    ["ENOENT", "it is not there"],
    ["EIO", "Error: i/o error"],
  ])("what cannot be read because of %s", (code, reason) => {
    const err = Object.assign(new Error("i/o error"), { code });
    expect(() => unreadable("Cannot build", "a", err)).toThrow(
      expect.objectContaining({ exit: exitCode.usage, message: `Cannot build: cannot read "a": ${reason}` }),
    );
  });

  test("a folder that is not there", async () => {
    await directory.remove();
    await expect(read()).rejects.toMatchObject({
      exit: exitCode.usage,
      message: expect.stringContaining("it is not there"),
    });
  });
});

describe("the hash of a folder", () => {
  const before = { "a/file": "1", b: "2", large: "x".repeat(1_500_000) };

  test("is the same for the same content, whatever its times", async () => {
    await write(before);
    const first = await hash();
    await utimes(join(directory.path, "b"), 1, 1);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await hash()).toBe(first);
  });

  test.each([
    ["a content", async () => write({ b: "3" })],
    ["the end of a large content", async () => write({ large: `${"x".repeat(1_499_999)}y` })],
    ["a new file", async () => write({ c: "" })],
    ["a name", async () => rename(join(directory.path, "b"), join(directory.path, "c"))],
    ["a mode", async () => chmod(join(directory.path, "b"), 0o755)],
    ["an empty directory", async () => mkdir(join(directory.path, "empty"))],
    [
      "a file that becomes a link to the same content",
      async () => {
        await rename(join(directory.path, "b"), join(directory.path, "a", "b"));
        await symlink("a/b", join(directory.path, "b"));
      },
    ],
  ])("changes with %s", async (_name, change) => {
    await write(before);
    const first = await hash();
    await change();
    expect(await hash()).not.toBe(first);
  });

  test("changes with where a link leads", async () => {
    await write({ a: "", b: "" });
    await symlink("a", join(directory.path, "link"));
    const first = await hash();
    await rm(join(directory.path, "link"));
    await symlink("b", join(directory.path, "link"));
    expect(await hash()).not.toBe(first);
  });

  test("cannot be had of a file that went meanwhile", async () => {
    await write(before);
    const entries = await read();
    await rename(join(directory.path, "b"), join(directory.path, "c"));
    await expect(hashContext(directory.path, entries, "Cannot build")).rejects.toMatchObject({
      exit: exitCode.usage,
      message: 'Cannot build: cannot read "b": it is not there',
    });
  });
});
