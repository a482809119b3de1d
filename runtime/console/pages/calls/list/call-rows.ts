import type { CallPageView } from "../../../../api/schemas/history/call-page.ts";
import type { CallSummary } from "../../../../api/schemas/history/call-summary.ts";

type Gap = CallPageView["history"]["gaps"][number];

/** A row of the list: a call, or a time in which calls may be missing. */
export type ListedCallRow =
  | { readonly kind: "call"; readonly call: CallSummary }
  | { readonly kind: "gap"; readonly gap: Gap };

/** Calls, newest first, with each gap above the first call that was accepted before its end. */
export function callRows(calls: readonly CallSummary[], gaps: readonly Gap[]): readonly ListedCallRow[] {
  const left = gaps.toSorted((a, b) => Date.parse(a.to) - Date.parse(b.to));
  const rows: ListedCallRow[] = [];
  for (const call of calls) {
    for (
      let gap = left.at(-1);
      gap !== undefined && Date.parse(gap.to) >= Date.parse(call.acceptedAt);
      gap = left.at(-1)
    ) {
      rows.push({ kind: "gap", gap });
      left.pop();
    }
    rows.push({ kind: "call", call });
  }
  for (const gap of left.toReversed()) rows.push({ kind: "gap", gap });
  return rows;
}

/** The list with a call in its new state, or in its place if it is new; one beyond its end belongs to a later page. */
export function withCall(
  calls: readonly CallSummary[],
  changed: CallSummary,
  hasMore: boolean,
): readonly CallSummary[] {
  const index = calls.findIndex(({ callId }) => callId === changed.callId);
  if (index !== -1) return calls.with(index, changed);
  const place = calls.findIndex((one) => isNewer(changed, one));
  if (place === -1) return hasMore ? calls : [...calls, changed];
  return calls.toSpliced(place, 0, changed);
}

function isNewer(a: CallSummary, b: CallSummary): boolean {
  const difference = Date.parse(a.acceptedAt) - Date.parse(b.acceptedAt);
  return difference === 0 ? a.callId > b.callId : difference > 0;
}
