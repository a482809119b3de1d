import { Table } from "../../../parts/tables/table.tsx";
import { Code } from "../../../parts/texts/shown.tsx";
import type { Difference } from "./differences.ts";

/** What a change changes. */
export function DifferenceTable({ rows }: { readonly rows: readonly Difference[] }) {
  return (
    <Table
      label="What changes"
      rows={rows}
      keyOf={({ path }) => path}
      columns={[
        {
          key: "path",
          title: "Field",
          width: "minmax(0, 2fr)",
          narrow: "title",
          cell: ({ path }) => <Code text={path} />,
        },
        {
          key: "before",
          title: "Before",
          width: "minmax(0, 2fr)",
          cell: ({ before }) =>
            before === undefined ? (
              <span class="muted">not there</span>
            ) : (
              <del>
                <Code text={before} />
              </del>
            ),
        },
        {
          key: "after",
          title: "After",
          width: "minmax(0, 2fr)",
          cell: ({ after }) =>
            after === undefined ? (
              <span class="muted">goes</span>
            ) : (
              <ins>
                <Code text={after} />
              </ins>
            ),
        },
      ]}
    />
  );
}
