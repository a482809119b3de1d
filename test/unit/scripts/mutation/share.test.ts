import { expect, test } from "vitest";

import { filesOfShare, readShare } from "../../../../scripts/mutation/share.ts";

const sunday = new Date("2026-11-29T23:59:59Z");

test("today is the share of the day of the week, in UTC", () => {
  expect(readShare("today", sunday)).toEqual({ part: 1, parts: 7 });
  expect(readShare("today", new Date(sunday.getTime() + 1_000))).toEqual({ part: 2, parts: 7 });
  expect(readShare("today", new Date(sunday.getTime() - 86_400_000))).toEqual({ part: 7, parts: 7 });
});

test("a share is a part of a number of parts", () => {
  expect(readShare("2/3", sunday)).toEqual({ part: 2, parts: 3 });
  for (const wrong of ["", "0/3", "4/3", "1/0", "1", "a/b", "1/3/4", "1.5/3", "tomorrow"])
    expect(() => readShare(wrong, sunday), wrong).toThrow('it must be "today", or a part of');
});

test("all shares together are all files, each once, and differ by one file at most", () => {
  const files = Array.from({ length: 31 }, (_, index) => `file-${(index * 7) % 31}.ts`);
  const shares = [1, 2, 3, 4].map((part) => filesOfShare(files, { part, parts: 4 }));
  expect(shares.flat().toSorted()).toEqual(files.toSorted());
  expect(shares.map(({ length }) => length)).toEqual([8, 8, 8, 7]);
});
