import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";

import { useShortcuts } from "../../data/look/use-shortcuts.ts";
import { tracksOf } from "./column.ts";
import { TableHead } from "./table-head.tsx";
import { RowCells } from "./row-cells.tsx";
import type { TableProps } from "./table.tsx";
import { useVirtual } from "./use-virtual.ts";

export interface VirtualTableProps<Row> extends TableProps<Row> {
  /** How many rows there are, where not all of them are here; unknown = -1. */
  readonly total?: number;
  /** Rows of two lines, e.g. with a second line of text. */
  readonly tall?: boolean;
  /** Keys of the rows that are rendered, when they change. */
  readonly onSight?: (keys: readonly string[]) => void;
}

const rowHeight = 40;
const tallHeight = 58;

/** A table of very many rows, of which those in sight are rendered. `j` and `k` move between the rows' links. */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, columns, rows, keyOf, order, onOrder, total = rows.length, tall = false, onSight } = props;
  const list = useRef<HTMLDivElement>(null);
  const latest = useMemo(() => ({ keyOf }), []);
  latest.keyOf = keyOf;
  const keyAt = useCallback(
    (index: number) => {
      const row = rows[index];
      return row === undefined ? String(index) : latest.keyOf(row);
    },
    [rows],
  );
  const virtual = useVirtual({
    count: rows.length,
    estimate: tall ? tallHeight : rowHeight,
    keyAt,
    list,
  });
  const sight = virtual.getVirtualItems().map(({ key }) => String(key));
  useEffect(() => onSight?.(sight), [sight.join(" ")]);
  const step = (by: number): void => {
    const here = list.current?.querySelector("[role=row]:focus-within")?.getAttribute("data-index");
    const first = virtual.getVirtualItems().find(({ end }) => end > (virtual.scrollOffset ?? 0))?.index ?? 0;
    const next = here === null || here === undefined ? first : Number(here) + by;
    if (next < 0 || next >= rows.length) return;
    virtual.scrollToIndex(next);
    focusRow(list.current, next);
  };
  useShortcuts([
    { keys: "j", what: "Next row", act: () => step(1) },
    { keys: "k", what: "Previous row", act: () => step(-1) },
  ]);
  const margin = virtual.options.scrollMargin;
  const tracks = useMemo(() => tracksOf(columns), [columns]);
  return (
    <div
      class="table table-virtual"
      role="table"
      aria-label={label}
      aria-rowcount={total === -1 ? -1 : total + 1}
      style={tracks}
    >
      <TableHead columns={columns} order={order} onOrder={onOrder} />
      <div ref={list} class="virtual-rows" role="rowgroup" style={{ height: `${virtual.getTotalSize()}px` }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              class="row"
              role="row"
              aria-rowindex={index + 2}
              data-index={index}
              style={{ transform: `translateY(${start - margin}px)` }}
            >
              <RowCells columns={columns} row={row} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Focuses the link of a row once it is rendered, which takes a frame after it came into sight. */
function focusRow(list: HTMLElement | null, index: number, tries = 10): void {
  const row = list?.querySelector<HTMLElement>(`[data-index="${index}"]`);
  const target = row?.querySelector<HTMLElement>("a, button");
  if (target !== undefined && target !== null) target.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusRow(list, index, tries - 1));
}
