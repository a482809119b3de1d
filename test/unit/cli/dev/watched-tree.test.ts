import { watch } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

import { WatchedTree } from "../../../../runtime/cli/dev/watch/watched-tree.ts";
import { eventually } from "../../../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let place: TempDirectory;
let tree: WatchedTree;
let heard: number;
let markers = 0;
const errors: string[] = [];
beforeEach(async () => {
  place = await tempDirectory("watched-tree");
  await mkdir(at("lib/deep"), { recursive: true });
  await mkdir(at("node_modules"));
  await writeFile(at(".dockerignore"), "out\n");
  heard = 0;
  tree = new WatchedTree(place.path, { onChange: () => void (heard += 1), onError: (reason) => errors.push(reason) });
  await tree.refresh();
});
afterEach(async () => {
  tree.close();
  await place.remove();
  expect(errors.splice(0)).toEqual([]);
});

const at = (path: string): string => join(place.path, path);
const write = (path: string, text = "x"): Promise<void> => writeFile(at(path), text);

/** Resolves when every event of what was done before has come: they come in their order, and this one is not counted. */
async function delivered(): Promise<void> {
  markers += 1;
  const marker = `marker-${markers}~`;
  let isSeen = false;
  const watcher = watch(place.path, (_event, name) => void (isSeen ||= name === marker));
  try {
    await write(marker);
    await eventually(() => isSeen, { what: "the marker" });
  } finally {
    watcher.close();
  }
}

async function isHeard(act: () => Promise<unknown>): Promise<void> {
  await delivered();
  const before = heard;
  await act();
  await eventually(() => heard > before, { what: "a change" });
}

async function isUnheard(act: () => Promise<unknown>): Promise<void> {
  await delivered();
  const before = heard;
  await act();
  await delivered();
  expect(heard).toBe(before);
  await isHeard(() => write("counted"));
}

test("files are heard in every directory, also in one that was made, moved or made again later", async () => {
  await isHeard(() => write("a"));
  await isHeard(() => write("lib/deep/a"));
  await isHeard(() => rm(at("lib"), { recursive: true }));
  await isHeard(() => mkdir(at("lib/deep/deeper"), { recursive: true }));
  await isHeard(() => write("lib/deep/deeper/a"));
  await isHeard(() => rename(at("lib/deep"), at("moved")));
  await isHeard(() => write("moved/deeper/b"));
});

test("what is left out is not", async () => {
  await mkdir(at("out"));
  await isUnheard(async () => {
    for (const path of ["out/a", "node_modules/a", "a~", ".a.swp"]) await write(path);
    await mkdir(at("node_modules/b"));
    await write("node_modules/b/index.js");
  });
});

test("a changed .dockerignore counts at once", async () => {
  await mkdir(at("out"));
  await write("rules~", "lib\n");
  // One event, so that it is heard once: what is heard next is the file.
  await isHeard(() => rename(at("rules~"), at(".dockerignore")));
  await isHeard(() => write("out/a"));
  await isUnheard(() => write("lib/deep/b"));
});

test("a folder that is made again is heard after a refresh", async () => {
  await rm(place.path, { recursive: true });
  await mkdir(place.path);
  await tree.refresh();
  await isHeard(() => write("a"));
});

test("nothing is heard after the end", async () => {
  tree.close();
  await write("a");
  await delivered();
  expect(heard).toBe(0);
});
