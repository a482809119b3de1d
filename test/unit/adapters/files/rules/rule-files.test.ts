import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { listRuleFiles } from "../../../../../runtime/adapters/files/rules/list-rule-files.ts";
import { RepeatedLook } from "../../../../../runtime/adapters/files/rules/repeated-look.ts";
import { RuleFiles } from "../../../../../runtime/adapters/files/rules/rule-files.ts";
import { eventually } from "../../../../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../../../../support/temp-directory.ts";

const role = (name: string): string =>
  `apiVersion: iam.service.com/v1\nkind: Role\nmetadata:\n  name: ${name}\nspec:\n  policy: [p]\n`;

describe("RuleFiles", () => {
  let directory: TempDirectory;
  let files: RuleFiles;
  let file: string;

  beforeEach(async () => {
    directory = await tempDirectory("rules");
    file = join(directory.path, "a.yaml");
    files = new RuleFiles(directory.path);
    await writeFile(file, role("one"), { mode: 0o600 });
    await update(true);
  });
  afterEach(() => directory.remove());

  async function update(atOnce = false) {
    const listing = await listRuleFiles(directory.path);
    if (listing.kind !== "found") throw new Error(listing.sentence);
    return files.update(listing, atOnce);
  }
  const names = (): string[] => files.documents.map(({ name }) => name);
  const settling = { hasChanged: false, isSettling: true };
  const changed = { hasChanged: true, isSettling: false };

  test("a file that is being written keeps what it held until it stays as it is", async () => {
    await writeFile(file, role("two").slice(0, 40));
    expect(await update()).toEqual(settling);
    await writeFile(file, role("two"));
    expect(await update()).toEqual(settling);
    expect(names()).toEqual(["one"]);
    expect(await update()).toEqual(changed);
    expect(names()).toEqual(["two"]);
  });

  test("a file that an editor moves aside for a moment keeps what it held", async () => {
    await rename(file, `${file}~`);
    expect(await update()).toEqual(settling);
    await writeFile(file, role("two"), { mode: 0o600 });
    expect(await update()).toEqual(settling);
    expect(names()).toEqual(["one"]);
    expect(await update()).toEqual(changed);
    expect(names()).toEqual(["two"]);
  });

  test("a file that never rests is read nevertheless", async () => {
    for (let count = 0; ; count += 1) {
      await writeFile(file, role(`n-${count}`));
      if ((await update()).hasChanged) break;
    }
    expect(names()).toEqual([expect.stringMatching(/^n-\d+$/)]);
  });

  test("a file that is gone at two updates is gone", async () => {
    await rm(file);
    expect(await update()).toEqual(settling);
    expect(await update()).toEqual(changed);
    expect(names()).toEqual([]);
    expect(await update()).toEqual({ hasChanged: false, isSettling: false });
  });

  test("a new file that is gone again was never there", async () => {
    const other = join(directory.path, "b.yaml");
    await writeFile(other, role("two"), { mode: 0o600 });
    expect(await update()).toEqual(settling);
    await rm(other);
    expect(await update()).toEqual({ hasChanged: false, isSettling: false });
    expect(names()).toEqual(["one"]);
  });

  test("a file with the same content as before has not changed", async () => {
    const [before] = files.documents;
    await writeFile(`${file}.new`, role("one"), { mode: 0o600 });
    await rename(`${file}.new`, file);
    expect(await update()).toEqual(settling);
    expect(await update()).toEqual({ hasChanged: false, isSettling: false });
    expect(files.documents[0]).toBe(before);
  });
});

describe("RepeatedLook", () => {
  test("looks again by itself, sooner when asked, and never twice at a time", async () => {
    let [looks, running, most] = [0, 0, 0];
    const release: (() => void)[] = [];
    const repeated = new RepeatedLook({
      interval: 3_600_000,
      onFailure: () => {},
      look: async () => {
        looks += 1;
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => release.push(resolve));
        running -= 1;
      },
    });
    repeated.within(0);
    await eventually(() => looks === 1, { what: "the first look" });
    repeated.within(0);
    repeated.within(0);
    release.shift()?.();
    await eventually(() => looks === 2, { what: "one look for both requests" });
    const closed = repeated.close();
    repeated.within(0);
    release.shift()?.();
    await closed;
    expect([looks, running, most]).toEqual([2, 0, 1]);
  });

  test("goes on after a look that failed", async () => {
    const failures: unknown[] = [];
    const repeated = new RepeatedLook({
      interval: 1,
      onFailure: (err) => void failures.push(err),
      look: async () => {
        throw new RangeError("no");
      },
    });
    await eventually(() => failures.length >= 2, { what: "two failures" });
    await repeated.close();
  });
});
