import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { useShortcuts } from "../../data/look/use-shortcuts.ts";
import { tracksOf } from "./column.ts";
import { FrameBudget } from "./frame-budget.ts";
import { PlacedRows, type PlacedRow } from "./placed-rows.ts";
import { TableHead } from "./table-head.tsx";
import { RowCells } from "./row-cells.tsx";
import type { TableProps } from "./table.tsx";
import { useVirtual } from "./use-virtual.ts";

export interface VirtualTableProps<Row> extends TableProps<Row> {
  /** How many rows there are, where not all of them are here; unknown = -1. */
  readonly total?: number;
  /** Rows of two lines, e.g. with a second line of text. */
  readonly tall?: boolean;
  /** Keys of the rows that belong to the window, when it stands still. */
  readonly onSight?: (keys: readonly string[]) => void;
}

const rowHeight = 40;
const tallHeight = 58;
/** Rows that are made in one frame, and while the list is scrolled, where nothing else is done. */
const [rowsOfFrame, rowsOfScroll] = [3, 8];

/** A table of very many rows, of which those in sight are rendered. `j` and `k` move between the rows' links. */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, columns, rows, keyOf, order, onOrder, total = rows.length, tall = false, onSight } = props;
  const list = useRef<HTMLDivElement>(null);
  const latest = useMemo(() => ({ keyOf, isMeasured: false }), []);
  latest.keyOf = keyOf;
  const height = useSignal(tall ? tallHeight : rowHeight);
  const keyAt = useCallback(
    (index: number) => {
      const row = rows[index];
      return row === undefined ? String(index) : latest.keyOf(row);
    },
    [rows, height.value],
  );
  const virtual = useVirtual({
    count: rows.length,
    estimate: height.value,
    keyAt,
    list,
    onHeight: (pixels) => {
      // As high as the first one are most of them: then nothing moves when another one is measured.
      if (!latest.isMeasured) height.value = pixels;
      latest.isMeasured = true;
    },
  });
  const shown = useRowsByFrame(rows, virtual);
  const sight = virtual.getVirtualItems().map(({ key }) => String(key));
  const still = useRef<readonly string[]>([]);
  if (!virtual.isScrolling && still.current.join(" ") !== sight.join(" ")) still.current = sight;
  useEffect(() => onSight?.(still.current), [still.current]);
  const step = (by: number): void => {
    const here = list.current?.querySelector("[role=row]:focus-within")?.getAttribute("data-index");
    // Asked of the window: a key may come before the event that tells where it has scrolled to.
    const first = virtual.getVirtualItemForOffset(scrollY)?.index ?? 0;
    const next = here === null || here === undefined ? first : Number(here) + by;
    if (next < 0 || next >= rows.length) return;
    virtual.scrollToIndex(next);
    focusRow(list.current, next);
  };
  useShortcuts([
    { keys: "j", what: "Next row", act: () => step(1) },
    { keys: "k", what: "Previous row", act: () => step(-1) },
  ]);
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
        {shown.map(({ key, index, start, row }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            class="row"
            role="row"
            aria-rowindex={index + 2}
            data-index={index}
            style={{ transform: `translateY(${start}px)` }}
          >
            <RowCells columns={columns} row={row} />
          </div>
        ))}
      </div>
    </div>
  );
}

/** The rows that are rendered now: those that are new are made frame by frame. */
function useRowsByFrame<Row>(rows: readonly Row[], virtual: ReturnType<typeof useVirtual>): readonly PlacedRow<Row>[] {
  const frames = useSignal(0);
  void frames.value;
  const placed = useMemo(() => new PlacedRows<Row>(), []);
  const budget = useMemo(() => new FrameBudget({ most: rowsOfFrame, onFrame: () => void frames.value++ }), []);
  const latest = useMemo(() => ({ rows }), []);
  // What sorts or narrows them is enough for one frame.
  if (latest.rows !== rows) budget.postpone();
  latest.rows = rows;
  const { range, options } = virtual;
  placed.place({
    wanted: virtual.getVirtualItems().flatMap(({ index, key, start }) => {
      const row = rows[index];
      return row === undefined ? [] : [{ key: String(key), index, start: start - options.scrollMargin, row }];
    }),
    isInSight: (index) => range === null || (index >= range.startIndex && index <= range.endIndex),
    most: virtual.isScrolling ? rowsOfScroll : budget.left,
    count: rows.length,
  });
  useLayoutEffect(() => budget.use(placed.made, placed.waiting > 0));
  useLayoutEffect(() => () => budget.stop(), []);
  return placed.rows;
}

/** Focuses the link of a row once it is rendered, which takes some frames after it came into sight. */
function focusRow(list: HTMLElement | null, index: number, tries = 30): void {
  const row = list?.querySelector<HTMLElement>(`[data-index="${index}"]`);
  const target = row?.querySelector<HTMLElement>("a, button");
  if (target !== undefined && target !== null) target.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusRow(list, index, tries - 1));
}
