import { cellClass, type TableColumn, type SortOrder } from "./column.ts";

export interface TableHeadProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly order?: SortOrder | undefined;
  /** Pressed on a column: the first time from the greatest for numbers, then the other way round. */
  readonly onOrder?: ((order: SortOrder) => void) | undefined;
}

/** The titles of a table; those that it can be sorted by are buttons. */
export function TableHead<Row>({ columns, order, onOrder }: TableHeadProps<Row>) {
  return (
    <div class="table-head" role="rowgroup">
      <div class="row" role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <div key={column.key} class={cellClass(column)} role="columnheader" aria-sort={sortOf(column, order)}>
            {column.sorts === true && onOrder !== undefined ? (
              <button
                type="button"
                class="sort"
                onClick={() => onOrder({ key: column.key, descending: nextDescending(column, order) })}
              >
                {column.title}
                <span aria-hidden="true">{markOf(column, order)}</span>
              </button>
            ) : (
              <span class={column.hideTitle === true ? "hidden" : undefined}>{column.title}</span>
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

function sortOf({ key, sorts }: Pick<TableColumn<never>, "key" | "sorts">, order: SortOrder | undefined) {
  if (sorts !== true) return undefined;
  if (order?.key !== key) return "none";
  return order.descending ? "descending" : "ascending";
}

function nextDescending(
  { key, align }: Pick<TableColumn<never>, "key" | "align">,
  order: SortOrder | undefined,
): boolean {
  return order?.key === key ? !order.descending : align === "end";
}

function markOf({ key }: Pick<TableColumn<never>, "key">, order: SortOrder | undefined): string {
  if (order?.key !== key) return "";
  return order.descending ? " ↓" : " ↑";
}
