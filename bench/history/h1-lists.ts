import type { CallFilter, CallListQuery } from "../../runtime/core/ports/call-history.ts";
import type { BenchRow } from "../bench-row.ts";
import { callCount, deepPage, pageSize } from "./million-calls.ts";
import { inTurn, openTimedReads, type TimedRead } from "./timed-reads.ts";

/** Filters that no call meets: each reads as many entries of an index as a page may. */
const empty: readonly CallFilter[] = [
  { statuses: [[418, 418]] },
  { reasons: ["crash"] },
  { queue: "none", states: ["failed"] },
  { function: { namespace: "functions", name: "function-3" }, states: ["running"] },
  { idPrefix: "00000000000" },
];

/** H1: a page of a history of a million calls. */
export const h1Lists: readonly BenchRow[] = [
  row("first page", 50, full({})),
  row(`page ${deepPage}`, 50, async (reads, { deepPlace }) =>
    expectFull(await reads.list({ ...query({}), after: deepPlace })),
  ),
  row("first page of a function", 50, async (reads, { functions }, turn) =>
    expectFull(await reads.list(query({ function: inTurn(functions, turn) }))),
  ),
  row(
    "first page of a state",
    50,
    full({ states: ["failed"] }, { states: ["cancelled"] }, { states: ["failed", "cancelled"] }),
  ),
  row("calls whose id begins so", 50, async (reads, { ids }, turn) => {
    const id = inTurn(ids, turn);
    const { rows } = await reads.list(query({ idPrefix: id.replaceAll("-", "").slice(0, 4 + (turn % 9)) }));
    if (rows.length === 0) throw new Error(`call ${id} is not found`);
  }),
  row("a filter that no call meets", 100, async (reads, _calls, turn) => {
    const { rows } = await reads.list(query(inTurn(empty, turn)));
    if (rows.length > 0) throw new Error("a call meets a filter that none should");
  }),
];

function row(what: string, bar: number, read: TimedRead): BenchRow {
  return {
    id: "H1",
    what: `history of ${callCount} calls: ${what}, p95`,
    peer: "nothing",
    unit: "ms",
    judged: "value",
    lessIsBetter: true,
    firstBar: bar,
    goal: bar,
    open: () => openTimedReads(read),
  };
}

function query(filter: CallFilter): CallListQuery {
  return { filter, limit: pageSize };
}

/** Reads first pages with these filters in turns. */
function full(...filters: readonly CallFilter[]): TimedRead {
  return async (reads, _calls, turn) => expectFull(await reads.list(query(inTurn(filters, turn))));
}

function expectFull({ rows }: { readonly rows: readonly unknown[] }): void {
  if (rows.length !== pageSize) throw new Error(`a page has ${rows.length} calls, not ${pageSize}`);
}
