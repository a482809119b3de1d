import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rename, stat, symlink } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { release } from "../../runtime/api/version.ts";
import { makePlatformPackage } from "../../scripts/package/make-platform-package.ts";
import type { PackedDirectory } from "../../scripts/package/pack-directory.ts";
import type { ListedFile } from "../../scripts/console/make-console-files.ts";
import { freePort } from "../support/free-port.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir } from "../support/weir-process.ts";

/** The packed platform, unpacked where npm installs it, beside the packages that it needs. */
const root = join(import.meta.dirname, "..", "..");
let place: TempDirectory;
let made: PackedDirectory;
let installed: string;

beforeAll(async () => {
  place = await tempDirectory("platform-package");
  made = await makePlatformPackage(root, place.path);
  execFileSync("tar", ["-xzf", join(place.path, made.filename), "--directory", place.path]);
  installed = join(place.path, "node_modules", "weir-platform");
  await mkdir(join(place.path, "node_modules"));
  await rename(join(place.path, "package"), installed);
  for (const each of await readdir(join(root, "node_modules")))
    if (!each.startsWith(".")) await symlink(join(root, "node_modules", each), join(place.path, "node_modules", each));
});
afterAll(() => place?.remove());

test("has every file of the console's list as it was packed, and nothing else of it but the list", async () => {
  const directory = join(installed, "runtime/console/dist");
  const list = JSON.parse(await readFile(join(directory, "files.json"), "utf8")) as readonly ListedFile[];
  const wanted = list.flatMap((each) => [each, ...each.encodings]);

  expect(list.map(({ path }) => path)).toContain("/ui/index.html");
  for (const { file, size } of wanted) expect((await stat(join(directory, file))).size, file).toBe(size);
  expect((await readdir(directory)).toSorted()).toEqual(["files.json", ...wanted.map(({ file }) => file)].toSorted());
});

test("has the licences of what is bundled in the console", async () => {
  const texts = await readFile(join(installed, "THIRD-PARTY.txt"), "utf8");

  for (const name of ["preact", "@preact/signals", "@preact/signals-core", "uplot", "@tanstack/virtual-core"])
    expect(texts).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, MIT$`, "m"));
  expect(texts.match(/^Permission is hereby granted/gm)).toHaveLength(5);
});

test("serves the console once it is installed, and builds nothing for it", async () => {
  const list = join(installed, "runtime/console/dist/files.json");
  const { mtimeMs: packedAt } = await stat(list);
  const { dependencies } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    dependencies: object;
  };
  expect(Object.keys(dependencies)).toContain("fastify");
  for (const name of ["rolldown", "preact", "uplot"]) expect(Object.keys(dependencies)).not.toContain(name);
  await using weir = await startWeir({
    data: join(place.path, "data"),
    main: join(installed, "weir-platform.js"),
    flags: ["--console-port", String(await freePort())],
    environment: { NODE_COMPILE_CACHE: join(place.path, "compiled") },
  });
  const { consoleUrl = "" } = weir;
  const page = await fetch(consoleUrl);
  const html = await page.text();
  const [, script = ""] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
  const asset = await fetch(new URL(script, consoleUrl), { headers: { "accept-encoding": "br" } });

  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(html).toContain(`<meta name="weir-release" content="${release}">`);
  expect(script).toMatch(/^\/ui\/app-[^/]+\.js$/);
  expect(asset.status).toBe(200);
  expect(Object.fromEntries(asset.headers)).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "content-encoding": "br",
    "cache-control": "public, max-age=31536000, immutable",
  });
  expect((await asset.text()).length).toBeGreaterThan(10_000);
  expect(weir.output()).not.toContain("console has no pages");
  expect((await stat(list)).mtimeMs).toBe(packedAt);
  await weir.stop();
});
