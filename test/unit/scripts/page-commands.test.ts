import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { expect, test } from "vitest";

import { commandBlocks } from "../../support/markdown-blocks.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const pages = globSync(["README.md", "CONTRIBUTING.md", "docs/**/*.md", "examples/*/README.md"], { cwd: root });

/** The file of `test` that runs the commands of a page, or the reason why none does. */
const testedBy: Readonly<Record<string, string | { readonly not: string }>> = {
  "README.md": "e2e/readme.test.ts",
  "docs/calls-and-queues.md": "e2e/queue-page.test.ts",
  "docs/console.md": { not: "it needs a cluster" },
  "docs/contributing/performance.md": { not: "its commands take an hour" },
  "docs/contributing/promises-measured.md": "unit/scripts/promises-page.test.ts",
  "docs/contributing/scaling-measured.md": "e2e/scaling-page.test.ts",
  "docs/contributing/supply-chain.md": { not: "its commands are checks of the repository" },
  "docs/contributing/tests.md": { not: "its commands run tests" },
  "docs/functions.md": "e2e/pages.test.ts",
  "docs/history.md": "e2e/history-commands.test.ts",
  "docs/install.md": "nightly-cluster/node/install-page.test.ts",
  "docs/operate.md": { not: "half of it needs a cluster" },
  "docs/reference/api.md": "e2e/pages.test.ts",
  "docs/reference/clients.md": "support/walk-clients.ts",
  "docs/reference/custom-resources.md": { not: "it needs a cluster" },
  "docs/reference/docker-provider.md": "e2e/docker-page.test.ts",
  "docs/reference/gitops.md": { not: "it needs a cluster and a Git server" },
  "docs/reference/http2-and-grpc.md": "support/walk-grpc.ts",
  "docs/reference/images.md": { not: "half of it needs a registry and tools of clusters" },
  "docs/reference/kubernetes.md": { not: "it needs a cluster" },
  "docs/reference/metrics-and-logs.md": "e2e/pages.test.ts",
  "docs/reference/proxies.md": "support/proxy-in-front.ts",
  "docs/reference/settings.md": { not: "its commands are ways to start Weir" },
  "docs/scaling.md": "e2e/scaling-page.test.ts",
  "docs/start.md": "e2e/readme.test.ts",
};

test("the commands of every page are tested, or there is a reason why not", () => {
  const own = pages.filter((page) => page === "README.md" || /^docs\/(?!decisions\/)/.test(page));
  const withCommands = own.filter((page) => commandBlocks(readFileSync(join(root, page), "utf8")).length > 0);
  expect(Object.keys(testedBy)).toEqual(withCommands.toSorted());
  for (const [page, by] of Object.entries(testedBy)) {
    if (typeof by !== "string") continue;
    expect(readFileSync(join(root, "test", by), "utf8"), by).toContain(basename(page));
  }
});

/** Options that curl got after 7.81, which Ubuntu 22.04 has: 7.82 to 8.10. */
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
