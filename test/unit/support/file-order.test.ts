import { expect, test } from "vitest";

import { spreadOut } from "../../support/file-order.ts";

const isUpper = (item: string): boolean => item === item.toUpperCase();

test("chosen items stand at equal distances over the first half, and each group keeps its order", () => {
  expect(spreadOut("ABCabcdefghijkl".split(""), isUpper).join("")).toBe("AabBcdCefghijkl");
});

test.each(["abc", "ABC", ""])("nothing is lost of %j, where all or none are chosen", (items) => {
  expect(spreadOut(items.split(""), isUpper).join("")).toBe(items);
});
