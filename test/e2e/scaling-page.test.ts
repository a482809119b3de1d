import { existsSync, readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { scenarios } from "../../bench/scaling/scenario.ts";
import { commandBlocks } from "../support/markdown-blocks.ts";
import { walkedWeir, walkPage } from "../support/walked-weir.ts";

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const page = read("scaling.md");
const [start, ...walk] = commandBlocks(page);
const flags = start?.commands.split(" -- ")[1]?.split(" ") ?? [];
const bench = commandBlocks(read("contributing/scaling-measured.md"))[0];

describe("docs/scaling.md", () => {
  const walked = walkedWeir("scaling-page", { flags });

  walkPage(walk, walked);

  test("shows the pictures that the command of docs/contributing/scaling-measured.md makes", () => {
    const [, directory = "", names = ""] =
      /^npm run bench -- scaling --svg (\S+) (.+)$/.exec(bench?.commands ?? "") ?? [];
    const shown = [...page.matchAll(/!\[[^\]]+\]\(scaling\/(\S+)\.svg\)/g)].map(([, name]) => name);
    expect(new Set(shown)).toEqual(new Set(names.split(" ")));
    expect(scenarios.map(({ name }) => name)).toEqual(expect.arrayContaining(shown));
    for (const name of shown) expect(existsSync(`${directory}/${name}.svg`), name).toBe(true);
  });
});
