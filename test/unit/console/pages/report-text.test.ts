import { expect, test } from "vitest";

import { systemReport } from "../../../../runtime/console/pages/system/report-text.ts";
import { whyNoValue } from "../../../../runtime/console/pages/secrets/secret-bytes.ts";

const version = { release: "0.1.0", sha: "abc", commit_message: "x" };
const info = {
  provider: { provider: "weir-local", orchestration: "process", version },
  version,
  arch: "x86_64",
  edition: "community",
  apiVersion: "1.0",
  functionNamespace: "functions",
  namespaceAliases: [],
  durability: "interval",
} as const;
const report = {
  checkedAt: "2026-01-31T12:00:00.000Z",
  parts: [{ part: "gateway", node: "weir-1", release: "0.1.0", replicas: 2, ready: 1 }],
  findings: [
    { id: "broker", level: "ok", subject: "broker", sentence: "it replies" },
    { id: "timeouts", level: "problem", subject: 'function "a.b"', sentence: "too short", advice: "set it to 19s" },
  ],
} as const;

test("a report says what runs where, and each finding with its advice", () => {
  expect(
    systemReport(
      { ...info, namespaceAliases: [] },
      { ...report, parts: [...report.parts], findings: [...report.findings] },
    ),
  ).toBe(
    `Weir 0.1.0, checked 2026-01-31T12:00:00.000Z
provider weir-local (process), edition community, durability interval, x86_64, API 1.0, commit abc

Parts
  gateway, 1 of 2 ready, weir-1, 0.1.0

Findings
  ok broker (broker): it replies
  problem timeouts (function "a.b"): too short
    set it to 19s
`,
  );
});

test("a platform that does not say what it is has a report, too", () => {
  expect(systemReport(undefined, { checkedAt: report.checkedAt, parts: [], findings: [] })).toMatch(
    /^Weir of an unknown release, checked/,
  );
});

test("a value has between one byte and a mebibyte", () => {
  expect(whyNoValue(new Uint8Array(1))).toBeUndefined();
  expect(whyNoValue(new Uint8Array(1_048_576))).toBeUndefined();
  expect(whyNoValue(new Uint8Array(0))).toBe("A secret has at least one byte");
  expect(whyNoValue(new Uint8Array(1_048_577))).toBe("A secret has at most 1,048,576 bytes; this one has 1,048,577");
});
