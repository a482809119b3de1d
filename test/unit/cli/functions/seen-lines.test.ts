import { expect, test } from "vitest";

import { SeenLines } from "../../../../runtime/cli/logs/seen-lines.ts";

/** Lines as `replica time`; of a stream those that are new. */
function newOf(seen: SeenLines, lines: readonly string[]): readonly string[] {
  seen.beginStream();
  return lines.filter((line) => {
    const [instance = "", second = ""] = line.split(" ");
    return seen.isNew({ instance, timestamp: `2026-01-31T12:00:${second}Z` });
  });
}

test("a stream that repeats lines shows those after them only", () => {
  const seen = new SeenLines();
  expect(newOf(seen, ["a 01", "a 02", "a 03"])).toHaveLength(3);
  expect(newOf(seen, ["a 02", "a 03", "a 04"])).toEqual(["a 04"]);
  expect(newOf(seen, ["a 01", "a 02", "a 03", "a 04"])).toEqual([]);
});

test("lines of one time are counted", () => {
  const seen = new SeenLines();
  expect(newOf(seen, ["a 01", "a 01"])).toHaveLength(2);
  expect(newOf(seen, ["a 01", "a 01", "a 01", "a 02"])).toEqual(["a 01", "a 02"]);
  expect(newOf(seen, ["a 01", "a 01", "a 01", "a 02", "a 02"])).toEqual(["a 02"]);
});

test("each replica has its own place, as their lines come out of order", () => {
  const seen = new SeenLines();
  expect(newOf(seen, ["a 05", "b 01"])).toHaveLength(2);
  expect(newOf(seen, ["b 01", "b 02", "a 05", "a 06", "c 03"])).toEqual(["b 02", "a 06", "c 03"]);
});

test("times with fewer digits, as Kubernetes writes them, are compared as times", () => {
  const seen = new SeenLines();
  expect(newOf(seen, ["a 01.123", "a 01.2"])).toHaveLength(2);
  expect(newOf(seen, ["a 01.12", "a 01.2", "a 01.21", "a 02"])).toEqual(["a 01.21", "a 02"]);
  expect(seen.last).toBe("2026-01-31T12:00:02.000000000Z");
});

test("within one stream nothing is left out", () => {
  expect(newOf(new SeenLines(), ["a 02", "a 01", "a 01"])).toHaveLength(3);
});
