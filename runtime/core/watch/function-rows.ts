import type { FunctionRow } from "../../api/schemas/watch/function-row.ts";
import type { DesiredFunction } from "../functions/desired-function.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { FunctionEndpoints } from "../ports/endpoints.ts";
import type { CallFigures } from "./elsewhere-calls.ts";
import { functionState, stateSince } from "./function-state.ts";
import { TickRate, TickTimes } from "./tick-rates.ts";

/** A deployed function; its members are replaced when they change. */
export interface WatchedFunction {
  readonly ref: FunctionRef;
  /** `<name>.<namespace>`. */
  readonly key: string;
  readonly wanted: DesiredFunction;
  readonly endpoints: FunctionEndpoints | undefined;
}

/** What rows are made from. */
export interface RowSources {
  functions(): Iterable<WatchedFunction>;
  /** Where calls are counted: here, and elsewhere; by `<name>.<namespace>`. */
  readonly calls: readonly { find(key: string): CallFigures | undefined }[];
}

/** A row, and whose it is. */
export interface KeyedRow {
  readonly ref: FunctionRef;
  readonly row: FunctionRow;
}

/** What one tick found. */
export interface RowChanges {
  /** Rows that are new or changed. */
  readonly changed: readonly KeyedRow[];
  readonly removed: readonly KeyedRow[];
}

interface KnownRow extends KeyedRow {
  row: FunctionRow;
  wanted: DesiredFunction;
  endpoints: FunctionEndpoints | undefined;
  readonly calls: TickRate;
  readonly errors: TickRate;
  /** The last tick at which the function was there. */
  seen: number;
}

/** The rows of all functions, computed once a tick for whoever reads them. */
export class FunctionRows {
  readonly #sources: RowSources;
  readonly #rows = new Map<string, KnownRow>();
  readonly #times = new TickTimes();
  #tick = 0;

  constructor(sources: RowSources) {
    this.#sources = sources;
  }

  /** As of the last tick, by key; the map is live, and its iterators reach rows that come later. */
  get rows(): ReadonlyMap<string, KeyedRow> {
    return this.#rows;
  }

  /** Looks at all functions; `now` in monotonic milliseconds. */
  tick(now: number): RowChanges {
    this.#tick += 1;
    this.#times.add(now);
    const changed: KeyedRow[] = [];
    let count = 0;
    for (const entry of this.#sources.functions()) {
      count += 1;
      const row = this.#look(entry);
      if (row !== undefined) changed.push(row);
    }
    return { changed, removed: this.#rows.size > count ? this.#removeGone() : [] };
  }

  /** The row, if it changed. */
  #look({ ref, key, wanted, endpoints }: WatchedFunction): KnownRow | undefined {
    let finished = 0;
    let failed = 0;
    let inFlight = 0;
    for (const counted of this.#sources.calls) {
      const figures = counted.find(key);
      if (figures === undefined) continue;
      finished += figures.finished;
      failed += figures.failed;
      inFlight += figures.inFlight;
    }
    const known = this.#rows.get(key);
    if (known === undefined) {
      const row = stateRow(key, wanted, endpoints, [0, 0, inFlight]);
      const rates = { calls: new TickRate(finished), errors: new TickRate(failed) };
      const added: KnownRow = { ref, row, wanted, endpoints, ...rates, seen: this.#tick };
      this.#rows.set(key, added);
      return added;
    }
    known.seen = this.#tick;
    const calls = known.calls.next(finished, this.#times);
    const errors = known.errors.next(failed, this.#times);
    const [, , , , callsBefore, errorsBefore, inFlightBefore] = known.row;
    const isSame = known.wanted === wanted && known.endpoints === endpoints;
    if (isSame && calls === callsBefore && errors === errorsBefore && inFlight === inFlightBefore) return undefined;
    known.wanted = wanted;
    known.endpoints = endpoints;
    const next = isSame
      ? withCalls(known.row, [calls, errors, inFlight])
      : stateRow(key, wanted, endpoints, [calls, errors, inFlight]);
    if (isSame || !isEqual(next, known.row)) {
      known.row = next;
      return known;
    }
    return undefined;
  }

  #removeGone(): KeyedRow[] {
    const gone = [...this.#rows].filter(([, { seen }]) => seen !== this.#tick);
    for (const [key] of gone) this.#rows.delete(key);
    return gone.map(([, row]) => row);
  }
}

type CallColumns = readonly [calls: number, errors: number, inFlight: number];

function stateRow(
  key: string,
  { replicas: wanted, createdAt }: DesiredFunction,
  endpoints: FunctionEndpoints | undefined,
  calls: CallColumns,
): FunctionRow {
  const ready = endpoints?.addresses.length ?? 0;
  const conditions = endpoints?.conditions ?? [];
  const state = functionState({ wanted, ready, conditions });
  return [key, wanted, ready, state, ...calls, stateSince(conditions, createdAt)];
}

function withCalls([key, wanted, ready, state, , , , since]: FunctionRow, calls: CallColumns): FunctionRow {
  return [key, wanted, ready, state, ...calls, since];
}

/** A provider reports more than rows show. */
function isEqual(one: FunctionRow, other: FunctionRow): boolean {
  return one.every((value, index) => value === other[index]);
}
