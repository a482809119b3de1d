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

/** Of functions by name, those that a list shows, in its order; equal ones by name. */
export function narrowFunctions(byName: readonly FunctionCell[], filter: FunctionFilter): readonly FunctionCell[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const { key: by, descending } = filter.order;
  const found = byName.filter((cell) => {
    const { key, namespace, state } = cell.peek();
    if (filter.state !== "" && state !== filter.state) return false;
    if (filter.namespace !== "" && namespace !== filter.namespace) return false;
    return words.every((word) => key.includes(word));
  });
  const rank = numbers[by] ?? (by === "state" ? ({ state }: ListedFunction) => stateRanks[state] : undefined);
  if (rank === undefined) return descending ? found.reverse() : found;
  const sign = descending ? -1 : 1;
  // What is equal stays by name.
  return found
    .map((cell) => ({ cell, rank: sign * rank(cell.peek()) }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ cell }) => cell);
}
