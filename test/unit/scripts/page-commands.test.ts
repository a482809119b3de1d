import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { commandBlocks } from "../../support/markdown-blocks.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const pages = globSync(["README.md", "CONTRIBUTING.md", "docs/**/*.md", "examples/*/README.md"], { cwd: root });

/** What curl learnt after 7.81, which Ubuntu 22.04 has: 7.82 to 8.10. */
const newer = [
  "--json",
  "--remove-on-error",
  "--no-clobber",
  "--rate",
  "%header{",
  "--url-query",
  "%{certs}",
  "--ca-native",
  "--haproxy-clientip",
  "--variable",
  "--expand-",
  "%output{",
  "--skip-existing",
];

test.each(pages)("the commands of %s need no curl newer than that of Ubuntu 22.04", (page) => {
  const commands = commandBlocks(readFileSync(join(root, page), "utf8")).map((block) => block.commands);
  const lines = commands.flatMap((text) => text.split("\n")).filter((line) => /\bcurl\b/.test(line));
  expect(lines.filter((line) => newer.some((option) => line.includes(option)))).toEqual([]);
});
