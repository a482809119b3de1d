import { Component } from "preact";

import { cellClass, type TableColumn } from "./column.ts";

export interface RowCellsProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly row: Row;
}

/** The cells of a row. They are made anew for another row or other columns, not when the list is scrolled. */
export class RowCells<Row> extends Component<RowCellsProps<Row>> {
  override shouldComponentUpdate(next: Readonly<RowCellsProps<Row>>, state: object): boolean {
    // A signal that a cell reads sets another state.
    return next.row !== this.props.row || next.columns !== this.props.columns || state !== this.state;
  }

  override render({ columns, row }: RowCellsProps<Row>) {
    return (
      <>
        {columns.map((column) => (
          <div
            key={column.key}
            class={cellClass(column)}
            role="cell"
            data-title={column.hideTitle === true ? undefined : column.title}
          >
            {column.cell(row)}
          </div>
        ))}
      </>
    );
  }
}
