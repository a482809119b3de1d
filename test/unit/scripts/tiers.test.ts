import { globSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { clusterLevels } from "../../../scripts/cluster/places.ts";
import { longestNight, nightlyRows } from "../../../scripts/nightly/rows.ts";
import { clusterFiles } from "../../../scripts/test-cluster/cluster-files.ts";
import { filesOf, tiers } from "../../../scripts/test/tiers.ts";
import config from "../../../vitest.config.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const projects = [...tiers.first, ...tiers.nightly];

describe("tiers of tests", () => {
  test("have each test file exactly once", () => {
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

test("no test is retried", () => {
  const known = (config.test?.projects ?? []).map((each) =>
    typeof each === "object" && "test" in each ? each.test?.retry : undefined,
  );
  expect(known).toEqual(projects.map(() => undefined));
  expect(config.test?.retry).toBeUndefined();
});

describe("the nightly run", () => {
  test("is limited to three hours", () => {
    const minutes = nightlyRows.reduce((sum, row) => sum + row.minutes, 0);
    expect(minutes).toBeLessThanOrEqual(longestNight);
  });

  test("has a row for all tests of one machine, and runs each test file of a cluster once", () => {
    const commands = nightlyRows.map(({ script, args }) => [script, ...args].join(" "));
    expect(commands).toContain("test nightly");
    const run = nightlyRows
      .filter(({ script }) => script === "test:cluster")
      .flatMap(({ args }) => {
        const at = args.indexOf("--level");
        const level = clusterLevels.find((each) => each === args[at + 1]) ?? "node";
        const patterns = args.filter(
          (each, index) => !each.startsWith("--") && !(args[index - 1] ?? "").startsWith("--"),
        );
        const { together, inTurn } = clusterFiles("nightly-cluster", level, patterns);
        return [...together, ...inTurn];
      });
    expect(run.sort()).toEqual(filesOf("nightly-cluster", root));
  });
});
