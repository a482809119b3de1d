import type { AuditRecord } from "../../api/schemas/iam/audit.ts";

/** Which records to read. In the texts `*` stands for anything. */
export interface AuditQuery {
  /** Unix milliseconds; records of events before are left out. */
  readonly since: number | undefined;
  readonly subject: string | undefined;
  readonly action: string | undefined;
  /** True: changes only; false: refusals only. */
  readonly allowed: boolean | undefined;
  /** Continue with new records until `signal` aborts. */
  readonly follow: boolean;
}

/**
 * Keeps what was changed and what was refused, each for a limited time and within limits of its own: no number of
 * refusals pushes out a change.
 *
 * - `append` never rejects: it resolves to whether the record is certainly stored. Callers need not wait for it. A
 *   record is stored once, however often it was sent.
 * - `read` yields each record once, also when others are stored or pushed out meanwhile: changes in the order in which
 *   they were stored, refusals in theirs, and those of both that were there when it began merged by time. It rejects with `queue_unavailable` when the store cannot be reached; so does the iteration, unless it
 *   follows: then it waits until the store is back, and goes on after the last record.
 */
export interface AuditTrail {
  append(record: AuditRecord): Promise<boolean>;
  read(query: AuditQuery, signal: AbortSignal): Promise<AsyncIterable<AuditRecord>>;
}
