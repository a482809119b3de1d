import { globSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { longestNight, nightlyRows } from "../../../scripts/nightly/rows.ts";
import { filesOf, tiers } from "../../../scripts/test/tiers.ts";
import config from "../../../vitest.config.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const projects = [...tiers.first, ...tiers.nightly];

describe("tiers of tests", () => {
  test("have each test file once, and none is in no tier", () => {
    const all = globSync("test/**/*.test.{ts,tsx,js,mts}", { cwd: root }).sort();
    expect(all.length).toBeGreaterThan(300);
    expect(projects.flatMap((project) => filesOf(project, root)).sort()).toEqual(all);
  });

  test("have each project of vitest once, with the files of its folder", () => {
    const known = (config.test?.projects ?? []).map((each) =>
      typeof each === "object" && "test" in each ? [each.test?.name, each.test?.include] : [],
    );
    expect(known).toHaveLength(projects.length);
    expect(known).toEqual(expect.arrayContaining(projects.map((name) => [name, [`test/${name}/**/*.test.ts`]])));
  });
});

test("no test has a second try", () => {
  const known = (config.test?.projects ?? []).map((each) =>
    typeof each === "object" && "test" in each ? each.test?.retry : undefined,
  );
  expect(known).toEqual(projects.map(() => undefined));
  expect(config.test?.retry).toBeUndefined();
});

describe("the nightly run", () => {
  test("is bounded by three hours", () => {
    const minutes = nightlyRows.reduce((sum, row) => sum + row.minutes, 0);
    expect(minutes).toBeLessThanOrEqual(longestNight);
  });

  test("has the rows of all nightly projects", () => {
    const commands = nightlyRows.map(({ script, args }) => [script, ...args].join(" "));
    expect(commands).toEqual(expect.arrayContaining(["test nightly", "test:cluster --tier nightly"]));
  });
});
