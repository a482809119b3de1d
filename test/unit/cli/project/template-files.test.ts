import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

import { baseImageName } from "../../../../runtime/api/version.ts";
import { createProject } from "../../../../runtime/cli/commands/projects/create-project.ts";
import { readProject } from "../../../../runtime/cli/project/read-project.ts";
import { readTemplate, templateNames, templatePaths } from "../../../../runtime/cli/project/template-files.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const folder = fileURLToPath(new URL("../../../../runtime/cli/templates/", import.meta.url));
const programs = {
  node: "server.js",
  python: "server.py",
  go: "main.go",
  shell: "function.sh",
  dockerfile: "nginx.conf",
};
const never = new AbortController().signal;

test("every file below templates belongs to a template", async () => {
  const files = await Array.fromAsync(glob("**/*.*", { cwd: folder }));
  const others = await Array.fromAsync(glob("*/{Dockerfile,dockerignore,gitignore}", { cwd: folder }));
  const listed = templateNames.flatMap((name) =>
    templatePaths(name).map((path) => `${name}/${path.replace(/^\./, "")}`),
  );
  expect(listed.toSorted()).toEqual(
    [...new Set([...files, ...others])].filter((path) => path.includes("/")).toSorted(),
  );
});

describe.each(templateNames)("template %s", (template) => {
  test.each(["hello", "1e3", "true", "null", "a".repeat(63)])("is a project without problems as %s", async (name) => {
    await using temp = await tempDirectory("template");
    const files = await readTemplate(template, name);
    await createProject({ directory: temp.path, name, files }, temp.path, never);
    const { content } = await readProject({ directory: temp.path, environment: {} });
    expect(Object.keys(content.functions)).toEqual([name]);
    for (const { text } of files) expect(text).not.toContain("my-function");
  });

  test("has a program of at most 60 lines that needs nothing of ours", async () => {
    const program = await readFile(join(folder, template, programs[template]), "utf8");
    expect(program.split("\n").length).toBeLessThanOrEqual(61);
    expect(program).not.toMatch(/weir/i);
  });

  test("has a Dockerfile whose base can be chosen, with a default, and that runs as nobody special", async () => {
    const text = await readFile(join(folder, template, "Dockerfile"), "utf8");
    expect(text).toMatch(/^ARG BASE=\S+$/m);
    expect(text).toMatch(/^FROM \$\{BASE\}$/m);
    expect(text).toMatch(/^USER 12000:12000$/m);
    if (template === "shell") expect(text).toContain(`ARG BASE=${baseImageName}\n`);
  });

  test("keeps the data of a Weir of this directory out of images and of git", async () => {
    const files = await readTemplate(template, "hello");
    for (const [path, line] of [
      [".dockerignore", ".weir"],
      [".gitignore", ".weir/"],
    ] as const)
      expect(files.find((file) => file.path === path)?.text.split("\n")).toContain(line);
  });
});

describe("createProject()", () => {
  const files = [
    { path: "weir.yaml", text: "a" },
    { path: "b", text: "b" },
  ];

  test("writes nothing when one of its files exists", async () => {
    await using temp = await tempDirectory("create");
    const directory = join(temp.path, "hello");
    await createProject({ directory, name: "hello", files: files.slice(1) }, temp.path, never);
    await writeFile(join(directory, "b"), "mine");
    await expect(createProject({ directory, name: "hello", files }, temp.path, never)).rejects.toMatchObject({
      exit: 2,
      message: 'Cannot create "hello": "hello/b" exists',
    });
    expect(await filesBelow(temp.path)).toEqual({ "hello/b": "mine" });
  });

  test("leaves nothing when it fails, or at Ctrl-C", async () => {
    await using temp = await tempDirectory("create");
    const directory = join(temp.path, "hello");
    const bad = [...files, { path: "b/c", text: "under a file" }];
    await expect(createProject({ directory, name: "hello", files: bad }, temp.path, never)).rejects.toMatchObject({
      exit: 2,
      message: 'Cannot create "hello": "hello": it is not there',
    });
    const aborted = AbortSignal.abort();
    await expect(createProject({ directory, name: "hello", files }, temp.path, aborted)).rejects.toThrow("aborted");
    expect(await Array.fromAsync(glob("**/*", { cwd: temp.path }))).toEqual([]);
  });
});

async function filesBelow(directory: string): Promise<Readonly<Record<string, string>>> {
  const entries = await Array.fromAsync(glob("**/*", { cwd: directory, withFileTypes: true }));
  const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(
      found.map(async (file) => [file.slice(directory.length + 1), await readFile(file, "utf8")] as const),
    ),
  );
}
