import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { findLocalWeir, listensAt, localCredentials } from "../../../../runtime/cli/gateways/local-weir.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const own = process.getuid?.() ?? 0;
const foreign = own + 1;

/** A directory with a data directory `.weir` as a running Weir leaves it, and a folder `project/src` beside it. */
async function withWeir(address = "http://127.0.0.1:8080\n") {
  const directory = await tempDirectory("local-weir");
  const data = join(directory.path, ".weir");
  const below = join(directory.path, "project", "src");
  await mkdir(join(data, "credentials"), { recursive: true });
  await mkdir(below, { recursive: true });
  await writeFile(join(data, "address"), address);
  await writeFile(join(data, "credentials", "basic-auth-user"), "admin\n");
  await writeFile(join(data, "credentials", "basic-auth-password"), "s3cret\n");
  return { path: directory.path, data, below, [Symbol.asyncDispose]: directory.remove };
}

describe("the Weir of a directory", () => {
  test("is found from below, with its address and credentials", async () => {
    await using weir = await withWeir();
    const { path, below, data } = weir;
    for (const from of [path, below]) {
      const found = await findLocalWeir(from, own);
      expect(found).toEqual({ directory: data, address: "http://127.0.0.1:8080" });
    }
    expect(await localCredentials({ directory: data, address: undefined }, own)).toEqual({
      kind: "basic",
      user: "admin",
      password: "s3cret",
    });
  });

  test("of another user is ignored, and one above it is found", async () => {
    await using weir = await withWeir();
    const { below, data } = weir;
    expect(await findLocalWeir(below, foreign)).toBeUndefined();
    expect(await localCredentials({ directory: data, address: undefined }, foreign)).toBeUndefined();
  });

  test("that is a link is ignored", async () => {
    await using weir = await withWeir();
    const { path, below, data } = weir;
    await rename(data, join(path, "elsewhere"));
    await symlink(join(path, "elsewhere"), data);
    expect(await findLocalWeir(below, own)).toBeUndefined();
  });

  test("that is a file is ignored", async () => {
    await using weir = await withWeir();
    const { below, data } = weir;
    await writeFile(join(below, ".weir"), "");
    expect((await findLocalWeir(below, own))?.directory).toBe(data);
  });

  test.each(["address", "credentials/basic-auth-password"])("does not follow a link %s", async (name) => {
    await using weir = await withWeir();
    const { path, data } = weir;
    await rename(join(data, name), join(path, "target"));
    await symlink(join(path, "target"), join(data, name));
    const found = { directory: data, address: undefined };
    expect(await findLocalWeir(path, own)).toEqual(
      name === "address" ? found : { ...found, address: "http://127.0.0.1:8080" },
    );
    expect((await localCredentials(found, own)) === undefined).toBe(name !== "address");
  });

  test.each(["https://weir.example.com", "", "nonsense://", "http://10.0.0.1:8080", "http://a:b@127.0.0.1"])(
    "has no address when its file says %j",
    async (address) => {
      await using weir = await withWeir(address);
      const { path, data } = weir;
      expect(await findLocalWeir(path, own)).toEqual({ directory: data, address: undefined });
    },
  );
});

test.each([
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080", true],
  ["http://127.0.0.1:8080", "http://localhost:8080", true],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8081", false],
  ["http://127.0.0.1:8080", "https://127.0.0.1:8080", false],
  ["http://127.0.0.1:8080", "http://10.0.0.1:8080", false],
  [undefined, "http://localhost:9", true],
  [undefined, "https://weir.example.com", false],
])("a Weir at %s may listen at %s: %s", (at, address, expected) => {
  expect(listensAt({ directory: "/.weir", address: at }, address)).toBe(expected);
});
