import stringWidth from "fast-string-width";

import { escapeLine } from "./escape-text.ts";

/** A column of a table: its title, and the text in a row. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Numbers are aligned right. */
  readonly align?: "left" | "right";
}

const gap = "  ";

/**
 * Rows in columns, without borders, a line each, ending with a newline. With `width` (columns of a terminal) longer
 * lines are cut with `…`; without it nothing is cut.
 */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => columns.map((each) => cellText(each, row)))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => stringWidth(line[index] ?? ""))));
  const text = lines.map((line) => {
    const cells = line.map((cell, index) => padded(cell, widths[index] ?? 0, columns[index]?.align));
    return `${cut(cells.join(gap).trimEnd(), width)}\n`;
  });
  return text.join("");
}

function cellText<Row>({ cell }: Column<Row>, row: Row): string {
  return escapeLine(cell(row));
}

function padded(cell: string, width: number, align: Column<never>["align"]): string {
  const space = " ".repeat(Math.max(0, width - stringWidth(cell)));
  return align === "right" ? space + cell : cell + space;
}

function cut(line: string, width: number | undefined): string {
  if (width === undefined || stringWidth(line) <= width) return line;
  let kept = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
