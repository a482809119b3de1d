import { tracksOf, type TableColumn, type SortOrder } from "./column.ts";
import { RowCells, type RowCellsProps } from "./row-cells.tsx";
import { TableHead } from "./table-head.tsx";

export interface TableProps<Row> {
  /** What it lists, for screen readers. */
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly order?: SortOrder;
  readonly onOrder?: (order: SortOrder) => void;
}

/** A table of a few rows; `VirtualTable` is for many. In a narrow window a row becomes two lines. */
export function Table<Row>({ label, columns, rows, keyOf, order, onOrder }: TableProps<Row>) {
  return (
    <div class="table" role="table" aria-label={label} style={tracksOf(columns)}>
      <TableHead columns={columns} order={order} onOrder={onOrder} />
      <div role="rowgroup">
        {rows.map((row) => (
          <TableRow key={keyOf(row)} columns={columns} row={row} />
        ))}
      </div>
    </div>
  );
}

/** A row that is not among very many. */
export function TableRow<Row>({ columns, row }: RowCellsProps<Row>) {
  return (
    <div class="row" role="row">
      <RowCells columns={columns} row={row} />
    </div>
  );
}
