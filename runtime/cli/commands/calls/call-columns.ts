import type { CallSummary } from "../../../api/schemas/history/call-summary.ts";
import { ageText } from "../../output/age-text.ts";
import type { Column } from "../../output/format-table.ts";

/** Columns that lists of calls have in common. */
export const callColumn = {
  status: { title: "STATUS", cell: ({ status }) => String(status ?? ""), align: "right" },
  took: {
    title: "TOOK",
    cell: ({ durationSeconds: took }) => (took === undefined ? "" : `${took.toFixed(3)}s`),
    align: "right",
  },
  age: { title: "AGE", cell: ({ acceptedAt }) => ageText(acceptedAt), align: "right" },
} as const satisfies Readonly<Record<string, Column<CallSummary>>>;
