import { formatTable, type Column } from "../../output/format-table.ts";
import type { MoveRow } from "./move-report.ts";
import type { NeededSecret } from "./needed-secrets.ts";

/** What an import came to, as it is reported. */
export interface ImportReport {
  readonly rows: readonly MoveRow[];
  readonly secrets: readonly NeededSecret[];
  /** Paths of what was written. */
  readonly files: readonly string[];
}

/**
 * The report as tables: one of the fields, one of the secrets that must be created, if there are any. Lines are never
 * cut, as what to do instead stands at their end.
 */
export function reportText({ rows, secrets }: ImportReport): string {
  const named = new Set(rows.map(({ file }) => file)).size > 1 ? [fileColumn, ...rowColumns] : rowColumns;
  const fields = formatTable(named, rows);
  return secrets.length === 0 ? fields : `${fields}\n${formatTable(secretColumns, secrets)}`;
}

/** How many rows have each result, as in `12 same, 5 translated, 2 not supported`. */
export function resultCounts(rows: readonly MoveRow[]): string {
  const results = ["same", "translated", "not supported"] as const;
  return results.map((each) => `${rows.filter(({ result }) => result === each).length} ${each}`).join(", ");
}

const fileColumn: Column<MoveRow> = { title: "FILE", cell: ({ file }) => file };
const rowColumns: readonly Column<MoveRow>[] = [
  { title: "LINE", cell: ({ line }) => String(line), align: "right" },
  { title: "FIELD", cell: ({ field }) => field },
  { title: "RESULT", cell: ({ result }) => result },
  { title: "DETAILS", cell: detailsOf },
];
const secretColumns: readonly Column<NeededSecret>[] = [
  { title: "SECRET", cell: ({ name }) => name },
  { title: "COMMAND", cell: ({ command }) => command },
];

function detailsOf(row: MoveRow): string {
  switch (row.result) {
    case "same":
      return row.note ?? "";
    case "translated":
      return row.note === undefined ? `to ${row.to}` : `to ${row.to}: ${row.note}`;
    case "not supported":
      return row.instead === undefined ? row.why : `${row.why}; instead: ${row.instead}`;
    default:
      return row satisfies never;
  }
}
