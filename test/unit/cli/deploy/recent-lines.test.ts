import { expect, test } from "vitest";

import { recentLinesIn } from "../../../../runtime/cli/deploy/rollout/recent-lines.ts";

const record = (second: number, text: string): string =>
  JSON.stringify({
    name: "hello",
    namespace: "functions",
    instance: "a",
    timestamp: `2026-01-31T12:00:${String(second).padStart(2, "0")}Z`,
    text,
  });

test("the last ten lines of all replicas, in the order of time", () => {
  const replicas = [
    ...Array.from({ length: 8 }, (_, at) => 2 * at + 1),
    ...Array.from({ length: 8 }, (_, at) => 2 * at),
  ];
  const lines = replicas.map((second) => record(second, `line ${second}\n`));
  expect(recentLinesIn(lines.join("\n"))).toEqual(Array.from({ length: 10 }, (_, at) => `line ${at + 6}`));
});

test("what is no record is left out, and control characters are shown", () => {
  const ndjson = ["", "{", "null", "[]", '{"text":1}', record(1, "\u001B[2Jred\n")].join("\n");
  expect(recentLinesIn(ndjson)).toEqual([String.raw`\u001b[2Jred`]);
});

test("a long line is cut", () => {
  expect(recentLinesIn(record(1, "x".repeat(5_000)))).toEqual(["x".repeat(400)]);
});
