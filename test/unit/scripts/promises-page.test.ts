import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { suites } from "../../../scripts/test/tiers.ts";
import { commandBlocks } from "../../support/markdown-blocks.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const page = read("docs/contributing/promises-measured.md");
const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(read("package.json"));
const commands = commandBlocks(page).flatMap((block) => block.commands.split("\n"));

const numbers = Array.from({ length: 19 }, (_, index) => index + 1);

describe("docs/contributing/promises-measured.md", () => {
  test("has every promise in order, each with a figure, what was measured, and a command", () => {
    const sections = page.split(/^## /m).slice(1);
    const promises = sections.filter((section) => /^S\d/.test(section));
    expect(promises.map((section) => Number(/^S(\d+) /.exec(section)?.[1]))).toEqual(numbers);
    for (const promise of promises) {
      expect(promise).toMatch(/^Promised: ./m);
      expect(promise).toMatch(/^Measured: ./m);
      expect(promise).toContain("```sh\nnp");
    }
  });

  test.each(commands)("%s", (command) => {
    const script = /^npm run (\S+)(?: -- .+)?$/.exec(command);
    if (script !== null) {
      expect(scripts).toHaveProperty([script[1] ?? ""]);
      return;
    }
    const [, suite = "", file = "", rows] =
      /^npx vitest run --project (\S+) (\S+)(?: -t "([^"]+)")?$/.exec(command) ?? [];
    expect([...suites, "nightly"]).toContain(suite);
    expect(file.startsWith(`test/${suite}/`)).toBe(true);
    expect(existsSync(join(root, file)), file).toBe(true);
    const text = read(file);
    for (const row of rows?.split("|") ?? []) {
      expect(text, row).toMatch(new RegExp(`\\(\\s*"${row}`));
    }
  });
});
