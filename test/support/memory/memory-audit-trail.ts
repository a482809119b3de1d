import { once } from "node:events";

import type { AuditRecord } from "../../../runtime/api/schemas/iam/audit.ts";
import { matchesAuditQuery } from "../../../runtime/core/access/audit/matches-audit-query.ts";
import type { AuditQuery, AuditTrail } from "../../../runtime/core/ports/audit-trail.ts";

export interface MemoryAuditTrailOptions {
  /** Most refusals that are kept; the oldest go first. */
  readonly maxRefusals?: number;
}

/** Keeps records in this process. */
export class MemoryAuditTrail implements AuditTrail {
  readonly #kept: AuditRecord[] = [];
  readonly #stored = new EventTarget();
  readonly #maxRefusals: number;
  /** Readers that wait for a new record. */
  following = 0;
  /** Instead of storing or reading, if set. */
  failure: Error | undefined;

  constructor({ maxRefusals = Number.POSITIVE_INFINITY }: MemoryAuditTrailOptions = {}) {
    this.#maxRefusals = maxRefusals;
  }

  get records(): readonly AuditRecord[] {
    return this.#kept;
  }

  async append(record: AuditRecord): Promise<boolean> {
    if (this.failure !== undefined) return false;
    if (this.#kept.some(({ id }) => id === record.id)) return true;
    this.#kept.push(structuredClone(record));
    const refusals = this.#kept.filter(({ allowed }) => !allowed);
    const [oldest] = refusals;
    if (oldest !== undefined && refusals.length > this.#maxRefusals) this.#kept.splice(this.#kept.indexOf(oldest), 1);
    this.#stored.dispatchEvent(new Event("stored"));
    return true;
  }

  async read(query: AuditQuery, signal: AbortSignal): Promise<AsyncIterable<AuditRecord>> {
    if (this.failure !== undefined) throw this.failure;
    return this.#records(query, signal);
  }

  async *#records(query: AuditQuery, signal: AbortSignal): AsyncGenerator<AuditRecord, void> {
    const seen = new Set<string>();
    while (!signal.aborted) {
      const next = this.#kept.find(({ id }) => !seen.has(id));
      if (next !== undefined) {
        seen.add(next.id);
        if (matchesAuditQuery(next, query)) yield structuredClone(next);
      } else if (!query.follow) return;
      else {
        this.following += 1;
        await once(this.#stored, "stored", { signal }).catch(() => {});
        this.following -= 1;
      }
    }
  }
}
