import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { beforeAll, describe, expect, test } from "vitest";

import { makeConsoleFiles, type MadeConsole } from "../../../../scripts/console/make-console-files.ts";
import { tooLarge } from "../../../../scripts/console/size-limits.ts";
import { isConsoleStale } from "../../../../scripts/console/stale-console.ts";
import { consoleList, writeConsole } from "../../../../scripts/console/write-console.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

describe("the built console", () => {
  let made: MadeConsole;
  const bodyText = (name: string): string =>
    made.files.find(({ file }) => file === name)?.bytes.toString() ?? `there is no ${name}`;

  beforeAll(async () => {
    made = await makeConsoleFiles(root);
  });

  test("scripts and sheet are as small as figure C1 wants them", () => {
    expect(tooLarge(made.sizes)).toEqual([]);
    expect(made.sizes.firstScripts).toBeGreaterThan(10_000);
    expect(tooLarge({ firstScripts: 70_001, scripts: 1, sheetGzip: 1, sheet: 20_481 })).toEqual([
      "The console is too large: JavaScript of the first page, gzip has 70001 bytes, at most 70000 are allowed",
      "The console is too large: the sheet has 20481 bytes, at most 20480 are allowed",
    ]);
  });

  test("the document has no data, style or script of its own, and loads nothing from elsewhere", () => {
    const page = bodyText("index.html");
    const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? "");

    expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/);
    expect(addresses.length).toBeGreaterThan(3);
    expect(addresses.filter((address) => !made.list.some(({ path }) => path === address))).toEqual([]);
  });

  test("scripts name no other host, and take no text for a page or program", () => {
    const scripts = made.list
      .filter(({ type }) => type.startsWith("text/javascript"))
      .map(({ file }) => bodyText(file));
    const all = scripts.join("\n");
    const hosts = [...all.matchAll(/["'`](?:https?:)?\/\/([a-z0-9.-]+\.[a-z]+)/g)].map(([, host]) => host);

    // The namespaces of SVG and MathML are names, and hosts of examples stand for none.
    expect([...new Set(hosts)].filter((host) => host !== "www.w3.org" && host?.endsWith(".example") !== true)).toEqual(
      [],
    );
    expect(all).not.toMatch(/\beval\(|new Function\(|document\.write|insertAdjacentHTML|outerHTML/);
  });

  test("the sheet loads nothing", () => {
    const sheet = made.list.find(({ type }) => type.startsWith("text/css"));

    expect(bodyText(sheet?.file ?? "")).not.toMatch(/url\(|@import|@font-face/);
  });

  test("all but the document have the digest of their content in their names", () => {
    expect(made.list.filter(({ immutable }) => !immutable).map(({ path }) => path)).toEqual(["/ui/index.html"]);
  });

  test("the packages in it are those that the pages use", () => {
    const names = made.packages.map((path) => path.replace(/^.*\/node_modules\//, ""));

    expect(names).toEqual(["@preact/signals", "@preact/signals-core", "@tanstack/virtual-core", "preact", "uplot"]);
  });

  test("compressed forms are the same bytes", () => {
    const bytesOf = (name: string): Buffer => made.files.find(({ file }) => file === name)?.bytes ?? Buffer.alloc(0);
    const open = { br: brotliDecompressSync, gzip: gunzipSync } as const;
    let count = 0;
    for (const { file, encodings, size } of made.list) {
      expect(bytesOf(file)).toHaveLength(size);
      for (const form of encodings) {
        count++;
        expect(bytesOf(form.file)).toHaveLength(form.size);
        expect(open[form.coding](bytesOf(form.file)).equals(bytesOf(file))).toBe(true);
      }
    }
    expect(count).toBeGreaterThan(made.list.length);
  });
});

test("writing a console removes what the one before had", async () => {
  await using place = await tempDirectory("console");
  const directory = join(place.path, "dist");
  const file = (name: string) => ({ file: name, bytes: Buffer.from(name) });
  await mkdir(directory);
  await writeFile(join(directory, "old.js"), "");

  await writeConsole({ list: [], files: [file("a.js"), file("a.js.br")] }, directory);
  await writeConsole({ list: [], files: [file("b.js")] }, directory);

  expect((await readdir(directory)).toSorted()).toEqual(["b.js", consoleList]);
  expect(await readFile(join(directory, "b.js"), "utf8")).toBe("b.js");
});

test("a console is stale until it is built, and after its sources changed", async () => {
  await using place = await tempDirectory("console");
  const source = join(place.path, "runtime/console/app.tsx");
  await mkdir(join(place.path, "runtime/console/dist"), { recursive: true });
  await writeFile(source, "");
  expect(isConsoleStale(place.path)).toBe(true);

  const list = join(place.path, "runtime/console/dist", consoleList);
  await writeFile(list, "[]");
  await utimes(list, 2_000, 2_000);
  await utimes(source, 1_000, 1_000);
  expect(isConsoleStale(place.path)).toBe(false);

  await utimes(source, 3_000, 3_000);
  expect(isConsoleStale(place.path)).toBe(true);
});
