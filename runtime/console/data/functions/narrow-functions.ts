import type { FunctionState } from "../../../api/schemas/watch/function-row.ts";
import type { SortOrder } from "../../parts/tables/column.ts";
import type { FunctionCell, ListedFunction } from "./listed-functions.ts";

/** What a list of functions shows. */
export interface FunctionFilter {
  /** Parts of name and namespace, with spaces between them; all have to be there. */
  readonly text: string;
  /** Empty = all. */
  readonly state: FunctionState | "";
  readonly namespace: string;
  readonly order: SortOrder;
}

/** Columns that a list can be sorted by. */
const numbers: Readonly<Record<string, (row: ListedFunction) => number>> = {
  calls: ({ calls }) => calls ?? -1,
  errors: ({ errors }) => errors ?? -1,
  inFlight: ({ inFlight }) => inFlight ?? -1,
  replicas: ({ ready }) => ready,
  since: ({ since }) => since,
};
/** The worst first. */
const stateRanks: Readonly<Record<FunctionState, number>> = {
  stalled: 0,
  degraded: 1,
  starting: 2,
  stopping: 3,
  ready: 4,
  scaled_to_zero: 5,
};

/** The functions that a list shows, in its order; equal ones by name. */
export function narrowFunctions(cells: Iterable<FunctionCell>, filter: FunctionFilter): readonly FunctionCell[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const { key: by, descending } = filter.order;
  const rank = numbers[by] ?? (by === "state" ? ({ state }: ListedFunction) => stateRanks[state] : undefined);
  const found: { readonly cell: FunctionCell; readonly key: string; readonly rank: number }[] = [];
  for (const cell of cells) {
    const listed = cell.peek();
    const { key, namespace, state } = listed;
    if (filter.state !== "" && state !== filter.state) continue;
    if (filter.namespace !== "" && namespace !== filter.namespace) continue;
    if (words.every((word) => key.includes(word))) found.push({ cell, key, rank: rank?.(listed) ?? 0 });
  }
  const sign = descending ? -1 : 1;
  const keySign = rank === undefined ? sign : 1;
  found.sort((one, other) => sign * (one.rank - other.rank) || keySign * (one.key < other.key ? -1 : 1));
  return found.map(({ cell }) => cell);
}
