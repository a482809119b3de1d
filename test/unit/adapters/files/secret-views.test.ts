import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { SecretViews } from "../../../../runtime/adapters/files/secret-views.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const ref = { namespace: "functions", name: "hello" };
const gone = { ...ref, name: "gone" };

test("the next process keeps the tokens of functions that still run, until it writes others, and no others", async () => {
  await using directory = await tempDirectory("views");
  const [source, views, staging] = ["secrets", "views", "staging"].map((name) => join(directory.path, name));
  const parts = { source: source ?? "", directory: views ?? "", staging: staging ?? "" };
  const first = new SecretViews(parts);
  for (const each of [ref, gone]) await first.showToken(each, "token", undefined);
  const next = new SecretViews(parts);
  await next.resume(ref, [], undefined);
  await next.removeOthers();
  const file = join(next.pathOf(ref), ".service-token");
  expect(await readFile(file, "utf8")).toBe("token");
  expect(await readdir(parts.directory)).toEqual(["hello.functions"]);
  await next.showToken(ref, "another", undefined);
  expect(await readFile(file, "utf8")).toBe("another");
  await next.hideToken(ref);
  await next.hideToken(gone);
  expect(await readdir(next.pathOf(ref))).toEqual([]);
});
