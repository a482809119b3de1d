import { basename, dirname } from "node:path";

import { nightlyRows } from "../nightly/rows.ts";
import { filesOf, tiers, type Project, type Tier } from "../test/tiers.ts";
import { formattedFile, type WrittenFile } from "../written-file.ts";

const headings: Readonly<Record<Tier, string>> = {
  first: "First tier: `.ci/run`, on every change",
  nightly: "Nightly: `npm run test:nightly`",
};

/** The page that lists each test file in its tier. */
export function testsPage(root: string): Promise<WrittenFile> {
  const rows = nightlyRows.map(
    ({ name, script, args, minutes, about }) =>
      `| ${name} | \`npm run ${[script, ...(args.length === 0 ? [] : ["--", ...args])].join(" ")}\` | ${minutes} min | ${about} |`,
  );
  const text = [
    "# Where each test runs",
    "",
    "Written by `npm run tests-doc`. How tests are run and written: [tests.md](tests.md).",
    ...(["first", "nightly"] as const).flatMap((tier) => [
      "",
      `## ${headings[tier]}`,
      ...(tier === "first" ? [] : ["", "| Row | Command | At most | This row |", "| --- | --- | --- | --- |", ...rows]),
      ...tiers[tier].flatMap((project) => section(project, root)),
    ]),
    "",
  ].join("\n");
  return formattedFile("docs/contributing/test-tiers.md", text);
}

function section(project: Project, root: string): readonly string[] {
  const folders = Map.groupBy(filesOf(project, root), (file) => dirname(file));
  return [...folders].flatMap(([folder, files]) => [
    "",
    `### \`${folder}\``,
    "",
    files.map((file) => basename(file, ".test.ts")).join(", "),
  ]);
}
