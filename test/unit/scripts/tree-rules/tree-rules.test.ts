import { describe, expect, test } from "vitest";

import { doubleExports } from "../../../../scripts/tree-rules/double-exports.ts";
import { fullFolders } from "../../../../scripts/tree-rules/full-folders.ts";
import { standIns } from "../../../../scripts/tree-rules/stand-ins.ts";

/** The findings about two files with these texts. */
const both = (a: string, b: string): string[] =>
  doubleExports([
    { path: "runtime/b.ts", text: b },
    { path: "runtime/a.ts", text: a },
  ]);

describe("doubleExports", () => {
  test("names what two files export, and the files", () => {
    expect(both("export interface Call {}", "export class Call {}")).toEqual([
      '"Call" is exported by runtime/a.ts and runtime/b.ts: give one a name of its own',
    ]);
  });

  test.each([
    ["a type", "export type One = string;"],
    ["a function", "export async function One(): Promise<void> {}"],
    ["a constant among several", "export const Other = 1, One = 2;"],
    ["an abstract class", "export abstract class One {}"],
    ["an enum", "export enum One {}"],
    ["a field of an object", "export const { a: One } = all;"],
    ["a field with a default", "export const { One = 1 } = all;"],
    ["the rest of an object", "export const { a, ...One } = all;"],
    ["an entry of an array", "export const [, One] = all;"],
    ["a name exported at the end", "const two = 2;\nexport { two as One };"],
    ["a type exported at the end", "interface One {}\nexport type { One };"],
  ])("sees %s", (_what, text) => {
    expect(both("export const One = 1;", text)).toHaveLength(1);
  });

  test.each([
    ["one file with it as value and as type", "export const One = 1;\nexport type One = typeof One;", "export {};"],
    ["one that re-exports it", "export const One = 1;", 'export { One } from "./a.ts";'],
    ["one that exports its import", "export const One = 1;", 'import { One } from "./a.ts";\nexport { One };'],
    ["one that re-exports everything", "export const One = 1;", 'export * from "./a.ts";'],
    ["one that does not export it", "export const One = 1;", "const One = 2;\nexport const two = One;"],
    ["one with it in a string", "export const One = 1;", 'export const two = "export const One = 1;";'],
  ])("accepts %s", (_what, a, b) => {
    expect(both(a, b)).toEqual([]);
  });
});

describe("fullFolders", () => {
  const files = (folder: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${folder}/file-${index}.ts`);

  test("names a folder with more than 20 files", () => {
    expect(fullFolders([...files("runtime/core/calls", 21), ...files("runtime/core/queues", 20)])).toEqual([
      "runtime/core/calls holds 21 files, more than 20: give it rooms by concept",
    ]);
  });

  test("counts no files of folders below", () => {
    expect(fullFolders([...files("runtime/core", 15), ...files("runtime/core/calls", 15)])).toEqual([]);
  });

  test("allows many ports", () => {
    expect(fullFolders(files("runtime/core/ports", 40))).toEqual([]);
  });
});

describe("standIns", () => {
  test("are the files behind conditions, without the default", () => {
    const imports = { "#a": { poison: "./runtime/a-poisoned.ts", default: "./runtime/a.ts" }, "#b": "./runtime/b.ts" };
    expect([...standIns(imports)]).toEqual(["runtime/a-poisoned.ts"]);
  });
});
