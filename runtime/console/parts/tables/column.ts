import type { ComponentChildren } from "preact";

/** One column of a table. */
export interface TableColumn<Row> {
  readonly key: string;
  readonly title: string;
  /** The title is for screen readers only: what stands below says it. */
  readonly hideTitle?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  /** A track of the grid: `minmax(0, 2fr)`, `7rem`; a tenth of what is left if absent. */
  readonly width?: string;
  /** Numbers stand at the end. */
  readonly align?: "start" | "end";
  /** Whether the table can be sorted by it. */
  readonly sorts?: boolean;
  /**
   * Where there is little room, and a row becomes two lines: the first line, its end, part of the second one (the
   * default). hide: left out, also where there is room for one line but not for all.
   */
  readonly narrow?: "title" | "side" | "line" | "hide";
}

/** What a table is sorted by. */
export interface SortOrder {
  readonly key: string;
  readonly descending: boolean;
}

/** An order as the address has it: `rate`, `-rate`. */
export function parseOrder(text: string): SortOrder {
  return text.startsWith("-") ? { key: text.slice(1), descending: true } : { key: text, descending: false };
}

export function formatOrder({ key, descending }: SortOrder): string {
  return descending ? `-${key}` : key;
}

/** The tracks of a row for the sheet: of all columns, and of those that are left where there is less room. */
export function tracksOf(columns: readonly Pick<TableColumn<never>, "width" | "narrow">[]): {
  readonly "--columns": string;
  readonly "--some-columns": string;
} {
  const tracks = (shown: typeof columns): string => shown.map(({ width }) => width ?? "minmax(0, 1fr)").join(" ");
  return { "--columns": tracks(columns), "--some-columns": tracks(columns.filter(({ narrow }) => narrow !== "hide")) };
}

/** Classes of a cell. */
export function cellClass({ align, narrow }: Pick<TableColumn<never>, "align" | "narrow">): string {
  return `cell${align === "end" ? " cell-end" : ""} cell-${narrow ?? "line"}`;
}
