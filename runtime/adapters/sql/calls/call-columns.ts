import type { CallRow } from "../../../core/history/history-row.ts";
import type { SqlRecord } from "../sql-dialect.ts";
import { sql, type SqlText } from "../sql-text.ts";
import { kindCodes, sourceCodes, stateCodes } from "./call-codes.ts";
import { callIdText } from "./call-id-bytes.ts";

/** What `callRowOf` reads, of a call `c` with its function `f` and the word of its queue `q`. */
export const rowColumns: SqlText = sql`c.id, c.kind, c.revision, c.accepted, c.state, c.status, c.reason, c.source,
  c.ended, c.wait, c.duration, c.cold_start, c.retries, f.namespace, f.name, q.text AS queue`;

/** Outer joins keep the order of `c` and its index. */
export const rowTables: SqlText = sql`LEFT JOIN function AS f ON f.id = c.fn LEFT JOIN word AS q ON q.id = c.queue`;

/** The row of a call as it was read. */
export function callRowOf(record: SqlRecord): CallRow {
  return {
    namespace: String(record["namespace"]),
    name: String(record["name"]),
    id: callIdText(record["id"] as Uint8Array),
    kind: kindCodes.word(Number(record["kind"])),
    revision: Number(record["revision"]),
    accepted: Number(record["accepted"]),
    queue: String(record["queue"]),
    state: stateCodes.word(Number(record["state"])),
    status: numberOrNull(record["status"]),
    reason: typeof record["reason"] === "string" ? record["reason"] : null,
    source: sourceCodes.word(Number(record["source"])),
    ended: numberOrNull(record["ended"]),
    wait: numberOrNull(record["wait"]),
    duration: numberOrNull(record["duration"]),
    coldStart: numberOrNull(record["cold_start"]),
    retries: Number(record["retries"]),
  };
}

// Drivers return wide integers as text.
function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
