import { describe, expect, test } from "vitest";

import { colourState, mayColour, type ColourChoice } from "../../../../runtime/cli/output/colour.ts";

describe("whether results are coloured", () => {
  test.each<readonly [ColourChoice, Readonly<Record<string, string>>, boolean, boolean]>([
    ["auto", {}, true, true],
    ["auto", {}, false, false],
    ["auto", { TERM: "xterm" }, true, true],
    ["auto", { TERM: "dumb" }, true, false],
    ["auto", { NO_COLOR: "1" }, true, false],
    ["auto", { NO_COLOR: "" }, true, true],
    ["auto", { FORCE_COLOR: "1" }, false, true],
    ["auto", { FORCE_COLOR: "1", TERM: "dumb" }, true, true],
    ["auto", { FORCE_COLOR: "0" }, true, false],
    ["auto", { FORCE_COLOR: "false" }, true, false],
    ["auto", { FORCE_COLOR: "" }, false, false],
    ["auto", { NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
    ["always", { NO_COLOR: "1", TERM: "dumb" }, false, true],
    ["never", { FORCE_COLOR: "1" }, true, false],
  ])("--color %s with %j on a terminal (%s): %s", (choice, environment, stdout, expected) => {
    const isTerminal = { stdin: true, stdout, stderr: true };
    expect(mayColour(choice, { environment, isTerminal })).toBe(expected);
  });
});

test.each([
  ["Ready", 32],
  ["done", 32],
  ["ok", 32],
  ["waiting", 33],
  ["warning", 33],
  ["Stalled: ImageNotFound", 31],
  ["failed", 31],
  ["cancelled", 31],
  ["problem", 31],
])("%s has a colour", (state, code) => {
  expect(colourState(state)).toBe(`\u001B[${code}m${state}\u001B[39m`);
});

test.each(["", "Scaled to zero", "queued", "running", "Readying", "not ready", "constructor", "…"])(
  "%j has none",
  (state) => {
    expect(colourState(state)).toBe(state);
  },
);
