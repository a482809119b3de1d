import { stripVTControlCharacters } from "node:util";

import { describe, expect, test } from "vitest";

import { formatTable, type Column } from "../../../../runtime/cli/output/format-table.ts";

interface Row {
  readonly name: string;
  readonly count: number;
  readonly state: string;
}

const columns: readonly Column<Row>[] = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "N", cell: ({ count }) => String(count), align: "right" },
  { title: "STATE", cell: ({ state }) => state, state: true },
  { title: "LAST", cell: ({ name }) => name },
];
const row = (name: string, count = 1, state = "Ready"): Row => ({ name, count, state });

describe("a table", () => {
  test("has columns as wide as their longest cell, numbers to the right, and no space at the end of lines", () => {
    expect(formatTable(columns, [row("a", 5), row("longer", 1_000, "Stalled")])).toBe(
      ["NAME       N  STATE    LAST", "a          5  Ready    a", "longer  1000  Stalled  longer", ""].join("\n"),
    );
  });

  test("without rows has its titles", () => {
    expect(formatTable(columns, [])).toBe("NAME  N  STATE  LAST\n");
  });

  test("counts columns, not characters", () => {
    const lines = formatTable(columns.slice(0, 2), [row("日本"), row("e\u0301e"), row("👩‍👩‍👧")]).split("\n");
    expect(lines).toEqual(["NAME  N", "日本  1", "e\u0301e    1", "👩‍👩‍👧    1", ""]);
  });

  test("shows what would move the cursor, and line breaks, as escapes", () => {
    const [, line] = formatTable(columns.slice(0, 1), [row("a\u001B[2J\n\t\u202E")]).split("\n");
    expect(line).toBe(String.raw`a\u001b[2J\n\t\u202e`);
  });

  test("can have as many rows as a gateway has functions", () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => row(`f${index}`));
    expect(formatTable(columns, rows).split("\n")).toHaveLength(200_002);
  });
});

describe("a table on a terminal", () => {
  test("is cut where the line would be longer, also before a wide character", () => {
    const rows = [row("0123456789"), row("01234日本")];
    for (const line of formatTable(columns.slice(0, 1), rows, { width: 7 }).trim().split("\n"))
      expect(line).toMatch(/^(?:NAME|012345…|01234…)$/);
    expect(formatTable(columns.slice(0, 1), rows, { width: 10 })).not.toContain("…");
  });

  test("has colours on states alone, and the same text", () => {
    const rows = [row("Ready", 1, "Ready"), row("b", 22, "Stalled: X")];
    const plain = formatTable(columns, rows);
    const coloured = formatTable(columns, rows, { colour: true });
    expect(stripVTControlCharacters(coloured)).toBe(plain);
    expect(coloured.split("\n")[0]).not.toContain("\u001B");
    expect(coloured.split("\n")[1]).toBe("Ready   1  \u001B[32mReady     \u001B[39m  Ready");
    expect(coloured.split("\u001B[")).toHaveLength(5);
  });

  test.each([1, 5, 12, 13, 14, 16, 30])("keeps its colours whole when cut at %i columns", (width) => {
    const rows = [row("日本", 1, "Ready"), row("b", 22, "Stalled: X")];
    const plain = formatTable(columns, rows, { width });
    const coloured = formatTable(columns, rows, { width, colour: true });
    expect(stripVTControlCharacters(coloured)).toBe(plain);
    for (const line of coloured.split("\n"))
      expect(line.split("\u001B[39m")).toHaveLength((line.split("\u001B[").length + 1) / 2);
  });
});
