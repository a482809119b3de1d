import { asyncCallRow } from "../../runtime/core/history/call-row.ts";
import type { CallRow } from "../../runtime/core/history/history-row.ts";
import type { CallHistory } from "../../runtime/core/ports/call-history.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import { eventually } from "./eventually.ts";

const pageSize = 500;
const readers = 16;
const shownDifferences = 5;

/**
 * The rows of all calls, by their ids.
 * @throws Error when one comes twice, or out of order
 */
export async function listedRows(reads: Pick<CallHistory, "list">): Promise<ReadonlyMap<string, CallRow>> {
  const rows = new Map<string, CallRow>();
  let before: CallRow | undefined;
  for (let after; ;) {
    const page = await reads.list({ filter: {}, limit: pageSize, ...(after === undefined ? {} : { after }) });
    for (const row of page.rows) {
      if (rows.has(row.id)) throw new Error(`call ${row.id} is listed twice`);
      if (before !== undefined && !isOlder(row, before))
        throw new Error(`call ${row.id} is not older than ${before.id}`);
      rows.set(row.id, row);
      before = row;
    }
    if (page.next === undefined) return rows;
    after = page.next;
  }
}

function isOlder(row: CallRow, before: CallRow): boolean {
  return row.accepted < before.accepted || (row.accepted === before.accepted && row.id < before.id);
}

export interface ComparedCalls {
  readonly reads: Pick<CallHistory, "list">;
  readonly ledger: Pick<CallLedger, "read">;
  /** Of calls that were sent: no others are listed. */
  readonly ids: Iterable<string>;
  /** Rows of calls whose records may be gone: without its record, a call is as it is here. */
  readonly before?: ReadonlyMap<string, CallRow>;
  /** Milliseconds; for thousands of calls one look takes long. */
  readonly within?: number;
}

/** Waits until the history lists each call as its record says, and no other one. */
export async function untilRowsAreRecords(compared: ComparedCalls): Promise<void> {
  await eventually(
    async () => {
      const found = await differences(compared);
      if (found.length === 0) return true;
      throw new Error(`${found.length} calls differ: ${found.slice(0, shownDifferences).join("; ")}`);
    },
    { what: "the rows to be as the records", every: 200, within: compared.within },
  );
}

/** A sentence for each call whose row is not as its record. */
async function differences({ reads, ledger, ids, before }: ComparedCalls): Promise<readonly string[]> {
  const rows = new Map(await listedRows(reads));
  const found: string[] = [];
  const left = [...ids];
  const compareNext = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const row = rows.get(id);
      rows.delete(id);
      const record = await ledger.read(id);
      const expected = record === undefined ? before?.get(id) : asyncCallRow(id, record.revision, record.entry);
      if (!isSame(row, expected)) found.push(`${id}: row ${JSON.stringify(row)}, record ${JSON.stringify(expected)}`);
    }
  };
  await Promise.all(Array.from({ length: readers }, compareNext));
  return [...found, ...[...rows.keys()].map((id) => `${id}: was never sent`)];
}

/** Revisions of a stream that was created anew are counted on from those of the one before it. */
function isSame(row: CallRow | undefined, expected: CallRow | undefined): boolean {
  if (row === undefined || expected === undefined) return row === expected;
  const [one, other] = [row, expected].map((each) => JSON.stringify({ ...each, revision: 0 }));
  return row.revision >= expected.revision && one === other;
}
