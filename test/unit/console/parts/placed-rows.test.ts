import { expect, test } from "vitest";

import { PlacedRows, type PlacedRow } from "../../../../runtime/console/parts/tables/placed-rows.ts";

/** Rows of a window of ten, named by their letters. */
const window = (letters: string): readonly PlacedRow<string>[] =>
  letters.split("").map((key, index) => ({ key, index, start: index * 40, row: key.toUpperCase() }));
const place = (placed: PlacedRows<string>, letters: string, most: number, seen = 10): string => {
  placed.place({ wanted: window(letters), isInSight: (index) => index < seen, most, count: letters.length });
  return shownBy(placed);
};
/** Letters by place; `-`: nothing stands there. */
const shownBy = ({ rows }: PlacedRows<string>): string => {
  const places = Array.from<string>({ length: (rows.at(-1)?.index ?? -1) + 1 }).fill("-");
  for (const { index, key } of rows) places[index] = key;
  return places.join("");
};

test("rows are made some at a time, those in sight first", () => {
  const placed = new PlacedRows<string>();

  expect(place(placed, "abcdef", 2, 3)).toBe("ab");
  expect([placed.made, placed.waiting]).toEqual([2, 4]);
  expect(place(placed, "abcdef", 2, 3)).toBe("abcd");
  expect(place(placed, "abcdef", 5, 3)).toBe("abcdef");
  expect([placed.made, placed.waiting]).toEqual([2, 0]);
});

test("a row stays until another one takes its place, and those that are there already move at once", () => {
  const placed = new PlacedRows<string>();
  place(placed, "abcd", 4);

  expect(place(placed, "wxyd", 0)).toBe("abcd");
  expect(place(placed, "wxyd", 2)).toBe("wxcd");
  expect(place(placed, "wxyd", 2)).toBe("wxyd");
  expect(place(placed, "dzwx", 0)).toBe("d-wx");
  expect(place(placed, "dzwx", 1)).toBe("dzwx");
});

test("no row stays beyond the end of a list that became shorter", () => {
  const placed = new PlacedRows<string>();
  place(placed, "abcdef", 6);

  expect(place(placed, "xy", 0)).toBe("ab");
  expect(place(placed, "xy", 1)).toBe("xb");
  expect(place(placed, "", 0)).toBe("");
});

test("a row that is there is shown as it is now", () => {
  const placed = new PlacedRows<string>();
  place(placed, "ab", 2);

  placed.place({
    wanted: [{ key: "a", index: 0, start: 12, row: "changed" }],
    isInSight: () => true,
    most: 0,
    count: 1,
  });

  expect(placed.rows).toEqual([{ key: "a", index: 0, start: 12, row: "changed" }]);
});

test("whatever is wanted stands there in its order at last, each row and each place once meanwhile", () => {
  const placed = new PlacedRows<string>();
  const letters = "abcdefghijklmnopqrstuvwxyz".split("");
  for (let round = 0; round < 300; round++) {
    const wanted = letters
      .map((letter) => ({ letter, by: Math.random() }))
      .sort((one, other) => one.by - other.by)
      .slice(0, Math.floor(Math.random() * 12))
      .map(({ letter }) => letter)
      .join("");
    for (let left = 1; left > 0; left = placed.waiting) {
      place(placed, wanted, 3, 5);
      expect(new Set(placed.rows.map(({ key }) => key)).size).toBe(placed.rows.length);
      expect(new Set(placed.rows.map(({ index }) => index)).size).toBe(placed.rows.length);
      expect(placed.rows.map(({ index }) => index)).toEqual(
        placed.rows.map(({ index }) => index).toSorted((a, b) => a - b),
      );
      // What is shown as wanted is where it belongs.
      for (const { key, index } of placed.rows) if (wanted.includes(key)) expect(wanted[index]).toBe(key);
    }
    expect(shownBy(placed)).toBe(wanted);
  }
});
