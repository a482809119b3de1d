import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { neededPackages } from "../../../../scripts/example/needed-packages.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

async function install(root: string, path: string, dependencies: readonly string[]): Promise<void> {
  await mkdir(join(root, path), { recursive: true });
  const content = { dependencies: Object.fromEntries(dependencies.map((name) => [name, "1"])) };
  await writeFile(join(root, path, "package.json"), JSON.stringify(content));
}

test("packages come with all that they depend on, also when some lies inside of another one", async () => {
  await using temp = await tempDirectory("needed-packages");
  // The root itself may be inside of a package.
  const root = join(temp.path, "node_modules", "weir", "node_modules");
  await install(root, "server", ["@scope/router", "codec"]);
  await install(root, "server/node_modules/codec", ["bytes"]);
  await install(root, "@scope/router", ["server"]);
  await install(root, "codec", ["old"]);
  await install(root, "bytes", []);
  await install(root, "old", []);
  await install(root, "other", []);
  const names = ["@scope/router", "bytes", "server"];
  expect(await neededPackages(["server"], root)).toEqual(names.map((name) => join(root, name)));
  expect(await neededPackages([], root)).toEqual([]);
});
