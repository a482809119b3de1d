import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import type { CallRow, AnsweredCall } from "../../runtime/core/history/history-row.ts";
import type { CallChange, CallFilter, CallHistory, CallPage } from "../../runtime/core/ports/call-history.ts";
import { sampleCall, sampleEntry } from "../contract/samples.ts";

/** Acceptance of call 0, Unix milliseconds; a full hour. */
export const historyStart = 1_800_000_000_000;

/** The id of a call; ids sort as their numbers do. */
export function historyId(number: number): string {
  return `${number.toString(16).padStart(8, "0")}-40a5-4a0e-9a53-3ad9f7a7f0d1`;
}

/** Record of a call that is done, accepted `number` seconds after the start. */
export function historyEntry(number: number, over: Partial<CallEntry> = {}): CallEntry {
  const accepted = historyStart + 1_000 * number;
  return {
    ...sampleEntry({}, sampleCall({ id: historyId(number) })),
    accepted: `${accepted}000000`,
    expires: accepted + 3_600_000,
    state: "done",
    run: 1,
    attempts: [{ number: 1, startedAt: accepted + 20, endedAt: accepted + 32, status: 200, duration: 11.5 }],
    ended: accepted + 40,
    status: 200,
    callback: null,
    ...over,
  };
}

/** What makes a record that of a call that has not ended. */
export const openEntry: Partial<CallEntry> = { state: "queued", run: 0, attempts: [], ended: null, status: null };

/** The first change of a call: its record with revision 10 times its number and 1. */
export function historyChange(number: number, over: Partial<CallEntry> = {}, revision = 10 * number + 1): CallChange {
  return { kind: "entry", id: historyId(number), revision, entry: historyEntry(number, over) };
}

/** A synchronous call that failed. */
export function historySyncCall(number: number, over: Partial<AnsweredCall> = {}): AnsweredCall {
  return {
    namespace: "functions",
    name: "echo",
    id: historyId(number),
    method: "POST",
    status: 500,
    startedAt: historyStart + 1_000 * number,
    duration: 12.25,
    ...over,
  };
}

export interface ListedPages {
  readonly rows: readonly CallRow[];
  readonly pages: readonly CallPage[];
}

/** Lists page by page until there is no next one; `between` is called after each page. */
export async function listPages(
  reads: CallHistory,
  filter: CallFilter = {},
  limit = 50,
  between: (page: number) => Promise<void> = async () => {},
): Promise<ListedPages> {
  const pages: CallPage[] = [];
  for (;;) {
    const after = pages.at(-1)?.next;
    const page = await reads.list({ filter, limit, ...(after === undefined ? {} : { after }) });
    pages.push(page);
    if (page.next === undefined) return { rows: pages.flatMap(({ rows }) => rows), pages };
    await between(pages.length);
  }
}

/** Numbers of the calls listed. */
export function numbersOf(rows: readonly Pick<CallRow, "id">[]): readonly number[] {
  return rows.map(({ id }) => Number.parseInt(id.slice(0, 8), 16));
}

/** Numbers of the newest ten calls. */
export async function firstNumbers(reads: Pick<CallHistory, "list">): Promise<readonly number[]> {
  return numbersOf((await reads.list({ filter: {}, limit: 10 })).rows);
}

/** A batch with one change of one call. */
export function batchOfOne(number: number): { readonly changes: readonly CallChange[]; readonly rollups: readonly [] } {
  return { changes: [historyChange(number)], rollups: [] };
}
