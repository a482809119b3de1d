import type { AuditRecord } from "../../../api/schemas/iam/audit.ts";

/** Milliseconds of refusals that one record stands for. */
const period = 60_000;
/** Most records that may begin in one second, and so end in one. */
const maxPerSecond = 100;

interface Folded {
  /** When its record is due. */
  readonly end: number;
  last: AuditRecord;
  count: number;
}

/**
 * Folds refusals of callers that did not identify themselves: one record per action and source within a minute, which
 * is the last of them and their number, and at most 100 records a second in all, whatever is sent. Times are monotonic
 * milliseconds.
 */
export class RefusalFold {
  /** In the order in which they began. */
  readonly #folded = new Map<string, Folded>();
  #second = Number.NEGATIVE_INFINITY;
  #begun = 0;

  /** Counts a refusal; false: it gets no record, as too many others began in the same second. */
  add(refusal: AuditRecord, source: string, now: number): boolean {
    const key = `${refusal.action} ${source}`;
    const found = this.#folded.get(key);
    if (found !== undefined) {
      found.last = refusal;
      found.count += 1;
      return true;
    }
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#begun = 0;
    }
    if (this.#begun >= maxPerSecond) return false;
    this.#begun += 1;
    this.#folded.set(key, { end: now + period, last: refusal, count: 1 });
    return true;
  }

  /** Takes out the records whose minute is over. */
  due(now: number): readonly AuditRecord[] {
    const records: AuditRecord[] = [];
    for (const [key, { end, last, count }] of this.#folded) {
      if (end > now) break;
      this.#folded.delete(key);
      records.push({ ...last, count });
    }
    return records;
  }

  /** Takes out all records. */
  rest(): readonly AuditRecord[] {
    return this.due(Number.POSITIVE_INFINITY);
  }
}
