import { execFileSync } from "node:child_process";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { durationWords } from "../../../../runtime/console/data/time/duration-words.ts";
import { clockTime, exactTime, timeWords } from "../../../../runtime/console/data/time/time-words.ts";
import { ansiRuns } from "../../../../runtime/console/data/words/ansi-runs.ts";
import { countOf, rateWords, shareWords, sizeWords } from "../../../../runtime/console/data/words/number-words.ts";
import { commandLine, shellWord } from "../../../../runtime/console/data/words/shell-word.ts";
import { shownParts, shownText } from "../../../../runtime/console/data/words/shown-text.ts";

const moment = Date.parse("2026-01-31T12:00:00.020Z");

describe("times in words", () => {
  test.each([
    [0, "now"],
    [-400, "now"],
    [-12_000, "12 seconds ago"],
    [-1_000, "1 second ago"],
    [-119_000, "1 minute ago"],
    [-7_200_000, "2 hours ago"],
    [180_000, "in 3 minutes"],
    [-31 * 86_400_000, "Dec 31, 2025"],
  ])("%i ms from now is %j", (shift, words) => {
    expect(timeWords(moment + shift, moment, "UTC")).toBe(words);
  });

  test("the exact time has its zone", () => {
    expect(exactTime(moment, "UTC")).toBe("2026-01-31 12:00:00.020 UTC");
    expect(exactTime(moment, "Europe/Berlin")).toBe("2026-01-31 13:00:00.020 GMT+1");
    expect(clockTime(moment, "Asia/Tokyo")).toBe("21:00:00");
    expect(clockTime(moment, "UTC")).toBe("12:00:00");
  });

  test.each([
    [0, "0 ms"],
    [8.44, "8.4 ms"],
    [340.4, "340 ms"],
    [1_400, "1.4 s"],
    [59_600, "1 min"],
    [125_000, "2 min 5 s"],
    [12_000_000, "3 h 20 min"],
    [360_000_000, "4 d 4 h"],
  ])("%i ms last %j", (ms, words) => {
    expect(durationWords(ms)).toBe(words);
  });
});

test("numbers in words", () => {
  expect([0, 0.004, 0.123, 12.345, 1_234].map(rateWords)).toEqual(["0", "< 0.01", "0.123", "12.3", "1.23K"]);
  expect([countOf(1, "call"), countOf(1_204, "call"), countOf(2, "reply", "replies")]).toEqual([
    "1 call",
    "1,204 calls",
    "2 replies",
  ]);
  expect([shareWords(0, 0), shareWords(1, 10_000), shareWords(1, 40), shareWords(2, 3)]).toEqual([
    "0 %",
    "< 0.1 %",
    "2.5 %",
    "67 %",
  ]);
  expect([0, 5, 1_023, 12_800, 5_000_000_000].map(sizeWords)).toEqual(["0 B", "5 B", "1023 B", "12.5 KiB", "4.7 GiB"]);
});

describe("hidden characters", () => {
  test.each([
    ["a\u202eb", "a\\u202eb"],
    ["\u0000\u001b[31m", "\\u0000\\u001b[31m"],
    ["x\u200by", "x\\u200by"],
    ["ad\u00admin", "ad\\u00admin"],
    ["\ud800", "\\ud800"],
    ["\u{e0041}", "\\u{e0041}"],
    ["a\u200db", "a\\u200db"],
    ["tab\tand\nline", "tab\tand\nline"],
    ["👩‍👧 ❤️ سلام‌ها", "👩‍👧 ❤️ سلام‌ها"],
  ])("%j is shown as %j", (text, shown) => {
    expect(shownText(text)).toBe(shown);
  });

  test("nothing is lost, and no character that reorders or ends a line is left", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const parts = shownParts(text);
        const back = parts.map((part) =>
          part.isEscape ? String.fromCodePoint(Number.parseInt(part.text.replaceAll(/[\\u{}]/g, ""), 16)) : part.text,
        );
        expect(back.join("")).toBe(text);
        const plain = parts.flatMap((part) => (part.isEscape ? [] : [part.text]));
        // oxlint-disable-next-line no-control-regex -- these are what is looked for
        expect(plain.join("\n")).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });
});

describe("ansiRuns()", () => {
  test("colours become classes until they are ended", () => {
    expect(ansiRuns("a\u001b[1;31mb\u001b[22mc\u001b[0md\u001b[44me")).toEqual([
      { text: "a", classes: "" },
      { text: "b", classes: "ansi-bold ansi-red" },
      { text: "c", classes: "ansi-red" },
      { text: "d", classes: "" },
      { text: "e", classes: "ansi-on-blue" },
    ]);
  });

  test("what moves a cursor, sets a title or makes a link is left out", () => {
    const line =
      "\u001b[2Ja\u001b[10;4Hb\u001b]0;title\u0007c\u001b]8;;https://evil.example\u001b\\d\u001b]8;;\u001b\\";

    expect(ansiRuns(line).map((run) => run.text)).toEqual(["a", "b", "c", "d"]);
  });

  test("codes of other colours do not count as looks", () => {
    expect(ansiRuns("\u001b[38;5;1mx\u001b[48;2;1;31;4my")).toEqual([
      { text: "x", classes: "" },
      { text: "y", classes: "" },
    ]);
  });

  test("text without sequences is one run", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("\u001b")),
        (text) => {
          expect(ansiRuns(text)).toEqual([{ text, classes: "" }]);
        },
      ),
    );
  });
});

test("a shell reads a word as it was", () => {
  const words = ["plain-1.2", "", "two words", "it's", 'a "b" $HOME `x` \\', "line\nbreak", "*", "~", "-n"];

  const read = execFileSync("/bin/sh", [
    "-c",
    `for word in ${words.map(shellWord).join(" ")}; do printf '%s\\0' "$word"; done`,
  ]);

  expect(read.toString().split("\0").slice(0, -1)).toEqual(words);
  expect(commandLine(["weir", "scale", "a b", "3"])).toBe("weir scale 'a b' 3");
});
