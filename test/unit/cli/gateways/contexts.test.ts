import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { changeContexts, checkedContextName, readContexts } from "../../../../runtime/cli/gateways/contexts.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

test("none are known without a file, and what is stored is read again", async () => {
  await using directory = await tempDirectory("contexts");
  const file = join(directory.path, "weir", "contexts.yaml");
  expect(await readContexts(file)).toEqual({ contexts: {} });
  const prod = { gateway: "https://prod", namespace: "a", caFile: "/ca.pem", tlsInsecure: true };
  await changeContexts(file, ({ contexts }) => ({ current: "prod", contexts: { ...contexts, prod } }));
  await changeContexts(file, (known) => ({
    ...known,
    contexts: { ...known.contexts, test: { gateway: "https://t" } },
  }));
  expect(await readContexts(file)).toEqual({ current: "prod", contexts: { prod, test: { gateway: "https://t" } } });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

describe("a file that a person edited", () => {
  test.each([
    ["a: [", "it is not YAML"],
    ["contexts: { a: {} }", 'context "a" is not one with a "gateway"'],
    ["contexts: { a: { gateway: 5 } }", 'context "a" is not one with a "gateway"'],
    ["contexts: { a: { gateway: x, caFile: 3 } }", 'context "a" is not one with a "gateway"'],
    ["contexts: { a: { gateway: x, tlsInsecure: 'no' } }", 'context "a" is not one with a "gateway"'],
    ["hello", 'it has no "contexts"'],
  ])("%j is refused, and stays as it is", async (text, reason) => {
    await using directory = await tempDirectory("contexts");
    const file = join(directory.path, "contexts.yaml");
    await writeFile(file, text);
    const refusal = expect.objectContaining({
      exit: 2,
      message: `Cannot read "${file}": ${reason}; correct or remove it`,
    });
    await expect(readContexts(file)).rejects.toEqual(refusal);
    await expect(changeContexts(file, (known) => known)).rejects.toEqual(refusal);
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test.each(["", "# nothing\n", "contexts:\n", "contexts: {}\ncurrent: 5\n"])("%j has none", async (text) => {
    await using directory = await tempDirectory("contexts");
    const file = join(directory.path, "contexts.yaml");
    await writeFile(file, text);
    expect(await readContexts(file)).toEqual({ contexts: {} });
  });
});

test("names are plain", () => {
  for (const name of ["a", "prod-1", "A.b_c", "x".repeat(63)]) expect(checkedContextName(name)).toBe(name);
  for (const name of ["", "-a", "a b", "a/b", "__proto__", "x".repeat(64), "\u001B[1m"])
    expect(() => checkedContextName(name)).toThrow(expect.objectContaining({ exit: 2 }));
});
