import type { CallHistory } from "../../ports/call-history.ts";
import type { HistoryCall } from "../history-row.ts";
import { rollupSteps } from "../rollups/rollup.ts";
import { mayOverlap, runsEndedWithin, type RunWindow } from "./call-windows.ts";

/** Calls that are looked at for each window; of a busier function it is not known which line belongs to which call. */
const mostCalls = 500;
/** Milliseconds before a window in which calls that overlap it may have been accepted. */
const longestOverlap = 3_600_000;
const { length } = rollupSteps["10s"];

/** Whether no other call of its function ran within a window of a call, as far as the history knows. */
export async function isLone(
  reads: Pick<CallHistory, "list" | "rollups">,
  call: HistoryCall,
  window: RunWindow,
): Promise<boolean> {
  const { namespace, name, id } = call.row;
  const counted = { from: window.from - (window.from % length), to: Math.ceil(window.to / length) * length };
  const filter = { function: { namespace, name }, since: window.from - longestOverlap, until: counted.to };
  const [page, series] = await Promise.all([
    reads.list({ filter, limit: mostCalls }),
    reads.rollups({ functions: [{ namespace, name }], step: "10s", since: counted.from, until: counted.to }),
  ]);
  if (page.next !== undefined) return false;
  const others = page.rows.filter((row) => row.id !== id);
  if (others.some((row) => mayOverlap(row, window))) return false;
  // Most synchronous calls have no row, but are counted.
  const known = others.filter(({ ended }) => ended !== null && ended >= counted.from && ended < counted.to);
  const runs = known.reduce((sum, { retries }) => sum + 1 + retries, runsEndedWithin(call, counted));
  const calls = series.flatMap((one) => one.calls).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return calls <= runs;
}
