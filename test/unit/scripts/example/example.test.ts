import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { exampleNames, filled, readExample } from "../../../../scripts/example/example.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

test("texts are filled at any depth, with what is known", () => {
  const filledIn = filled({ a: ["{x}/{y}", { b: "{x}{x}" }], n: 1 }, { x: 'quote " and \\' });
  expect(filledIn).toEqual({ a: ['quote " and \\/{y}', { b: 'quote " and \\quote " and \\' }], n: 1 });
});

test("an example that breaks a rule is refused with a sentence", async () => {
  await using root = await tempDirectory("examples");
  await mkdir(join(root.path, "broken"));
  await writeFile(
    join(root.path, "broken", "example.json"),
    '{ "about": 1, "calls": [], "deployment": { "service": "A" } }',
  );

  expect(await exampleNames(root.path)).toEqual(["broken"]);
  await expect(readExample(root.path, "broken")).rejects.toThrow(
    /^Cannot read example "broken": .*\/about must be string/,
  );
  await expect(readExample(root.path, "none")).rejects.toThrow('Cannot find example "none": there are broken');
});
