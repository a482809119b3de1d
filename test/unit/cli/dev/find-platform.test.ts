import { chown, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { findPlatform, findPlatformFile, platformFile } from "../../../../runtime/cli/dev/gateway/find-platform.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let place: TempDirectory;
const uid = process.getuid?.();
beforeEach(async () => {
  place = await tempDirectory("find-platform");
  await write("project/deep/weir.yaml", "");
});
afterEach(() => place.remove());

const at = (path: string): string => join(place.path, path);
async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(at(path)), { recursive: true });
  await writeFile(at(path), text);
}
const find = (...directories: readonly string[]) => findPlatform(directories.map(at), uid);

describe("the Weir that is started", () => {
  test("is none where there is none", async () => {
    await write("package.json", '{ "name": "hello" }');
    await write("node_modules/weir-platform/package.json", "no JSON");
    expect(await find("project/deep")).toBeUndefined();
  });

  test("is the checkout around, with or without its packages", async () => {
    await write("package.json", '{ "name": "weir" }');
    expect(await find("project/deep")).toBeUndefined();
    await write("runtime/host/main.ts", "");
    const checkout = { kind: "checkout", directory: place.path };
    expect(await find("project/deep")).toEqual({ ...checkout, installed: false });
    await mkdir(at("node_modules"));
    expect(await find("project/deep")).toEqual({ ...checkout, installed: true });
  });

  test.each(["project/deep", "project/deep/.weir/platform", "project", "."])("is the package in %s", async (above) => {
    const directory = join(above, "node_modules/weir-platform");
    await write(join(directory, "package.json"), '{ "name": "weir-platform" }');
    expect(await find("project/deep")).toEqual({ kind: "package", directory: at(directory), installed: true });
  });

  test("is that of the project before that of the command", async () => {
    await write("command/node_modules/weir-platform/package.json", '{ "name": "weir-platform" }');
    expect(await find("project/deep", "command/bin")).toMatchObject({
      directory: at("command/node_modules/weir-platform"),
    });
    await write("project/node_modules/weir-platform/package.json", '{ "name": "weir-platform" }');
    expect(await find("project/deep", "command/bin")).toMatchObject({
      directory: at("project/node_modules/weir-platform"),
    });
  });

  test("can be installed from a file of this release alone, here or above", async () => {
    const fileOf = (...directories: readonly string[]) => findPlatformFile(directories.map(at), uid);
    await write("project/weir-platform-0.0.9.tgz", "");
    expect(await fileOf("project/deep")).toBeUndefined();
    await write(platformFile, "");
    expect(await fileOf("project/deep")).toBe(at(platformFile));
    expect(await findPlatformFile([at("project")], uid === 0 ? 1_234 : Number(uid) + 1)).toBe(
      uid === 0 ? at(platformFile) : undefined,
    );
  });

  test("is none of another user", async () => {
    const file = "node_modules/weir-platform/package.json";
    await write(file, '{ "name": "weir-platform" }');
    expect(await find("project")).toBeDefined();
    // Only root may give a file away; what is root's may be run by everybody.
    if (uid === 0) await chown(at(file), 1_234, 1_234);
    expect(await findPlatform([at("project")], uid === 0 ? uid : Number(uid) + 1)).toBeUndefined();
  });
});
