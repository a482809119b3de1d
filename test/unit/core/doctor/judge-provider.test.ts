import { expect, test } from "vitest";

import { judgeProvider } from "../../../../runtime/core/doctor/judge-provider.ts";

const place = { edition: "enterprise", home: "machine" } as const;

test("a provider that can start replicas is ok", () => {
  expect(judgeProvider({ provider: { fault: undefined }, place })).toEqual([
    { id: "provider", level: "ok", subject: "provider", sentence: "It can start replicas" },
  ]);
});

test.each([
  ["machine", "container engine"],
  ["cluster", "API server"],
] as const)("one that cannot is a problem, with what works meanwhile, on a %s", (home, advice) => {
  const fault = "Cannot reach the container engine: connect ENOENT";
  const findings = judgeProvider({ provider: { fault }, place: { ...place, home } });
  expect(findings).toEqual([
    {
      id: "provider",
      level: "problem",
      subject: "provider",
      sentence: `${fault}; calls of running functions go on, deploys, scaling and logs wait`,
      advice: expect.stringContaining(advice),
    },
  ]);
});

test("one that this process does not see has no finding", () => {
  expect(judgeProvider({ provider: undefined, place })).toEqual([]);
});
