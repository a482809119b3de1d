import stringWidth from "fast-string-width";

import { colourState } from "./colour.ts";
import { escapeLine } from "./escape-text.ts";

/** A column of a table: its title, and the text in a row. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Numbers are aligned right. */
  readonly align?: "left" | "right";
  /** Its cells are states: they get the colour of that state, where there are colours. */
  readonly state?: boolean;
}

/** How a table is shown. */
export interface TableLook {
  /** Columns of the terminal: longer lines are cut with `…`; undefined cuts nothing. */
  readonly width?: number | undefined;
  readonly colour?: boolean;
}

const gap = "  ";

/** Rows in columns, without borders, a line each, ending with a newline. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, colour = false }: TableLook = {},
): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => columns.map((each) => cellText(each, row)))];
  const widths = columns.map((_, index) =>
    lines.reduce((most, line) => Math.max(most, stringWidth(line[index] ?? "")), 0),
  );
  const text = lines.map((cells, number) => {
    const padded = cells.map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.align));
    const whole = padded.join(gap).trimEnd();
    const kept = width === undefined || stringWidth(whole) <= width ? whole : cut(whole, width);
    return `${colour && number > 0 ? coloured(kept, padded, columns) : kept}\n`;
  });
  return text.join("");
}

function cellText<Row>({ cell }: Column<Row>, row: Row): string {
  return escapeLine(cell(row));
}

function pad(cell: string, width: number, align: Column<never>["align"]): string {
  const space = " ".repeat(Math.max(0, width - stringWidth(cell)));
  return align === "right" ? space + cell : cell + space;
}

/** The states in a line, which may be cut, in their colours. */
function coloured(line: string, cells: readonly string[], columns: readonly Column<never>[]): string {
  let text = "";
  let start = 0;
  for (const [index, cell] of cells.entries()) {
    const shown = line.slice(start, start + cell.length);
    start += cell.length + gap.length;
    const after = line.slice(start - gap.length, start);
    text += (columns[index]?.state === true ? colourState(cell, shown) : shown) + after;
  }
  return text;
}

function cut(line: string, width: number): string {
  let kept = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
