import { rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { ConsoleFiles } from "../../../../runtime/gateway/console-port/console-files.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let directory: TempDirectory;
let files: ConsoleFiles;

const listed = (path: string, file: string) => ({ path, file, type: "text/javascript", size: 2, immutable: true });

async function writeList(names: readonly string[], at: number): Promise<void> {
  const encodings = [{ coding: "br", file: "app-1.js.br", size: 1 }];
  const list = names.map((file) => ({
    ...listed(`/ui/${file}`, file),
    encodings: file === "app-1.js" ? encodings : [],
  }));
  const path = join(directory.path, "files.json");
  await writeFile(path, JSON.stringify(list));
  // Two lists of one test may be written within the resolution of the clock.
  await utimes(path, at, at);
}

beforeAll(async () => {
  directory = await tempDirectory("console-files");
  for (const file of ["index.html", "app-1.js", "app-1.js.br", "app-2.js", "secret.js"]) {
    await writeFile(join(directory.path, file), file);
  }
  files = new ConsoleFiles(directory.path);
});
afterAll(() => directory.remove());

const contentOf = async (path: string, accepted?: string): Promise<string | undefined> =>
  (await files.read(path, accepted))?.bytes.toString();

test("without a list the reply names the command that builds it", async () => {
  await expect(files.read("/ui/", undefined)).rejects.toMatchObject({
    code: "route_not_found",
    message: "Cannot serve the console: it was not built; build it with: npm run console",
  });
});

test("only what is listed is served, and addresses of pages are the page", async () => {
  await writeList(["index.html", "app-1.js"], 1_000);
  for (const path of ["/ui/", "/ui/f/dev/hello", "/ui/calls/", "/ui//"])
    expect(await contentOf(path)).toBe("index.html");
  expect(await contentOf("/ui/app-1.js")).toBe("app-1.js");
  for (const path of ["/ui/secret.js", "/ui/app-1.js.br", "/ui/files.json", "/ui/../app-1.js", "/ui/./", "/ui/x.y/z"]) {
    expect(await contentOf(path), path).toBeUndefined();
  }
});

test("a compressed form has a tag of its own", async () => {
  const plain = await files.read("/ui/app-1.js", "gzip");
  const brotli = await files.read("/ui/app-1.js", "br");
  expect([plain?.coding, brotli?.coding]).toEqual([undefined, "br"]);
  expect(brotli?.bytes.toString()).toBe("app-1.js.br");
  expect(plain?.tag).toMatch(/^"[\w-]{22}"$/);
  expect(brotli?.tag).not.toBe(plain?.tag);
});

test("another build is served from its first request on", async () => {
  await writeList(["index.html", "app-2.js"], 2_000);
  expect(await contentOf("/ui/app-2.js")).toBe("app-2.js");
  expect(await contentOf("/ui/app-1.js")).toBeUndefined();
});

test("a file that is listed but gone is a console that was not built", async () => {
  await rm(join(directory.path, "app-2.js"));
  await expect(files.read("/ui/app-2.js", undefined)).rejects.toMatchObject({ code: "route_not_found" });
});
