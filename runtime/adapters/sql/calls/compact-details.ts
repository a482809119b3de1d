import type { CallDetails, CallRow, HistoryCall, AnsweredCall } from "../../../core/history/history-row.ts";
import { compactEntry, expandEntry } from "./compact-entry.ts";
import { ShortNames } from "./short-names.ts";

/** The stored form; `r` is the revision of an earlier record. */
interface CompactDetails {
  readonly e?: object;
  readonly p?: readonly { readonly r: number; readonly e: object }[];
  readonly s?: object;
}

const syncNames = new ShortNames({ method: "m", startedAt: "b", duration: "d", replica: "r", coldStart: "c" });

/** What a call keeps beside its columns, as JSON that only `expandDetails` reads. */
export function compactDetails({ row, details }: HistoryCall): string {
  const { entry, earlier, sync } = details;
  const compact: CompactDetails = {
    ...(entry === undefined ? {} : { e: compactEntry(entry, row) }),
    ...(earlier === undefined
      ? {}
      : { p: earlier.map((one) => ({ r: one.revision, e: compactEntry(one.entry, row) })) }),
    ...(sync === undefined ? {} : { s: syncNames.shorten(sync, impliedSync(row)) }),
  };
  return JSON.stringify(compact);
}

/** The inverse of `compactDetails`. */
export function expandDetails(json: string, row: CallRow): CallDetails {
  const { e, p, s }: CompactDetails = JSON.parse(json);
  return {
    ...(e === undefined ? {} : { entry: expandEntry(e, row) }),
    ...(p === undefined ? {} : { earlier: p.map((one) => ({ revision: one.r, entry: expandEntry(one.e, row) })) }),
    ...(s === undefined ? {} : { sync: syncNames.lengthen(s, impliedSync(row)) as unknown as AnsweredCall }),
  };
}

/** Members that every synchronous call has. */
function impliedSync({ id, namespace, name, status, accepted, duration }: CallRow): Readonly<Record<string, unknown>> {
  return { id, namespace, name, status, startedAt: accepted, duration };
}
