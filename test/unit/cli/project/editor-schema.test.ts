import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { editorSchema } from "../../../../runtime/cli/commands/projects/editor-schema.ts";
import { readTemplate, templateNames } from "../../../../runtime/cli/project/template-files.ts";

const printed = JSON.parse(JSON.stringify(editorSchema())) as object;
const validate = new Ajv({ strict: true, strictRequired: false, keywords: ["patternErrorMessage"] }).compile(printed);
const withHello = (hello: object): object => ({ version: 1, functions: { hello } });

test("editors read it as draft-07", () => {
  expect(printed).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#", title: "weir.yaml" });
});

test.each(templateNames)("template %s fits it", async (template) => {
  const files = await readTemplate(template, "hello");
  const yaml = files.find(({ path }) => path === "weir.yaml")?.text ?? "";
  expect(validate(parse(yaml))).toBe(true);
});

test.each([
  ["a variable as a text", true, withHello({ image: "${IMAGE}", labels: { a: "${LABEL:-x y}" } })],
  ["a variable in a text", true, withHello({ image: "x:${TAG}", limits: { memory: "${MEMORY}Mi" } })],
  ["a text that does not fit", false, withHello({ image: "a b" })],
  ["a variable as a key", false, withHello({ image: "x", envVars: { "${KEY}": "x" } })],
  ["an unknown key", false, withHello({ image: "x", imagine: "y" })],
  ["neither image nor folder nor build", false, withHello({ envProcess: "cat" })],
  ["another version", false, { ...withHello({ image: "x" }), version: 2 }],
])("%s: %s", (_name, fits, value) => {
  expect(validate(value)).toBe(fits);
});

test("patterns are said in words, too", () => {
  expect(JSON.stringify(printed)).toContain('"patternErrorMessage":"Expected a quantity such as 128Mi or 500m"');
});
