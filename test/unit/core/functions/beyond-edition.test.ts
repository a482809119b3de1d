import { expect, test } from "vitest";

import type { Edition } from "../../../../runtime/api/editions.ts";
import { beyondEdition } from "../../../../runtime/core/functions/beyond-edition.ts";
import { readFacts } from "../../../../runtime/core/functions/function-facts.ts";
import { desireFunction } from "../../../../runtime/core/functions/desired-function.ts";

const desired = (service: string, namespace: string, queue?: string) =>
  desireFunction(
    undefined,
    namespace,
    { service, image: "none", ...(queue === undefined ? {} : { annotations: { "com.service.queue": queue } }) },
    "2026-01-01T00:00:00.000Z",
  );
const functions = [
  desired("report", "functions", "reports"),
  desired("echo", "functions"),
  desired("plain", "functions", "default"),
  desired("both", "dev", "reports"),
  desired("away", "dev"),
];

test.each<[edition: Edition, names: readonly string[]]>([
  [
    "community",
    [
      'away.dev (namespace "dev")',
      'both.dev (namespace "dev" and queue "reports")',
      'report.functions (queue "reports")',
    ],
  ],
  ["pro", ['both.dev (queue "reports")', 'report.functions (queue "reports")']],
  ["enterprise", []],
])("edition %s", (edition, names) => {
  const seen = functions.map((wanted) => ({ wanted, facts: readFacts(wanted.deployment) }));
  expect(beyondEdition(seen, edition, "functions")).toEqual(names);
});

test("a function whose annotations became unusable is judged by its namespace alone", () => {
  const unusable = desired("old", "dev", "-no queue-");
  const seen = [{ wanted: unusable, facts: readFacts(unusable.deployment) }];
  expect(seen[0]?.facts.limits).toBeInstanceOf(Error);
  expect(beyondEdition(seen, "community", "functions")).toEqual(['old.dev (namespace "dev")']);
});
