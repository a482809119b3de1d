import { expect, test } from "vitest";

import { findingText } from "../../../../runtime/cli/doctor/finding-text.ts";

test("a finding is a line, and one with advice has a second", () => {
  const text = findingText(
    [
      { id: "tcp", level: "ok", subject: "port 8080", sentence: "It accepts connections" },
      { id: "functions", level: "problem", subject: "functions", sentence: "Stalled", advice: "look" },
    ],
    (level) => level.toUpperCase(),
  );
  expect(text).toBe(
    ["OK       port 8080  It accepts connections", "PROBLEM  functions  Stalled", "         Try: look", ""].join("\n"),
  );
});

test("what a gateway wrote cannot move the cursor or begin a line", () => {
  const evil = "\u001B[2J\nok";
  const text = findingText(
    [{ id: "x", level: evil as "ok", subject: evil, sentence: evil, advice: evil }],
    (level) => level,
  );
  expect(text).not.toContain("\u001B");
  expect(text.split("\n")).toHaveLength(3);
});

test("a long subject pushes only its own sentence", () => {
  const text = findingText(
    [
      { id: "a", level: "ok", subject: "x".repeat(60), sentence: "long" },
      { id: "b", level: "ok", subject: "y", sentence: "short" },
    ],
    (level) => level,
  );
  const [first = "", second = ""] = text.split("\n");
  expect(first.indexOf("long")).toBe(9 + 60 + 2);
  expect(second.indexOf("short")).toBe(9 + 40 + 2);
});
