import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../../api/platform-error.ts";
import type { AuditRecord } from "../../../api/schemas/iam/audit.ts";
import { matchesAuditQuery } from "../../../core/access/audit/matches-audit-query.ts";
import type { AuditQuery, AuditTrail } from "../../../core/ports/audit-trail.ts";
import { publishUnreported } from "../link/durable-publish.ts";
import { HeaderBlock } from "../link/header-block.ts";
import type { NatsLink } from "../link/nats-link.ts";
import type { PageMessage, PageStart } from "../link/read-page.ts";
import { messageHeader } from "../queues/call-message.ts";
import { auditStream, auditSubject } from "../stream-names.ts";
import { AuditCursor } from "./audit-cursor.ts";

/** Milliseconds for which a record is tried to be stored: nobody waits for it, and a busy disk may need seconds. */
const budget = 30_000;
/** Most records that wait for the broker at a time, about 2 KiB each; further ones are not stored. */
const maxPending = 10_000;
/** How far a gateway's clock may be ahead of the broker's, milliseconds, for its records to be found by time. */
const clockTolerance = 300_000;

export interface NatsAuditTrailOptions {
  /** Milliseconds between two looks for new records while following. */
  readonly lookEvery?: number;
}

/** The audit trail in the streams `audit_change` and `audit_refusal`, read as one in the order of the broker's times. */
export class NatsAuditTrail implements AuditTrail {
  readonly #link: NatsLink;
  readonly #lookEvery: number;
  #pending = 0;

  constructor(link: NatsLink, { lookEvery = 1_000 }: NatsAuditTrailOptions = {}) {
    this.#link = link;
    this.#lookEvery = lookEvery;
  }

  async append(record: AuditRecord): Promise<boolean> {
    if (this.#pending >= maxPending) return false;
    this.#pending += 1;
    const kind = record.allowed ? "change" : "refusal";
    const headers = new HeaderBlock();
    headers.add(messageHeader.id, record.id);
    headers.add(messageHeader.expectedStream, auditStream[kind]);
    const body = Buffer.from(JSON.stringify(record));
    const until = performance.now() + budget;
    const outcome = await publishUnreported(this.#link, auditSubject[kind], body, headers, until);
    this.#pending -= 1;
    return outcome.kind === "stored";
  }

  async read(query: AuditQuery, signal: AbortSignal): Promise<AsyncIterable<AuditRecord>> {
    const { since, allowed } = query;
    const start: PageStart =
      since === undefined ? { seq: 1 } : { start_time: new Date(Math.max(0, since - clockTolerance)).toISOString() };
    const kinds = (["change", "refusal"] as const).filter(
      (kind) => allowed === undefined || allowed === (kind === "change"),
    );
    const cursors = kinds.map((kind) => new AuditCursor(this.#link, auditStream[kind], start));
    await Promise.all(cursors.map((cursor) => this.#fill(cursor)));
    return this.#records(cursors, query, signal);
  }

  async *#records(
    cursors: readonly AuditCursor[],
    query: AuditQuery,
    signal: AbortSignal,
  ): AsyncGenerator<AuditRecord, void> {
    while (!signal.aborted) {
      const next = earliest(cursors);
      if (next !== undefined) {
        const record = parseRecord(next.message);
        next.cursor.shift();
        if (record !== undefined && matchesAuditQuery(record, query)) yield record;
      } else if (!query.follow) return;
      else {
        await this.#wait(signal);
        for (const cursor of cursors) cursor.lookAgain();
      }
      for (const cursor of cursors) if (cursor.isEmpty) await this.#goOn(cursor, query.follow, signal);
    }
  }

  /** While following it tries again until the broker is back. */
  async #goOn(cursor: AuditCursor, follow: boolean, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        return await this.#fill(cursor);
      } catch (err) {
        if (!follow) throw err;
        await this.#wait(signal);
      }
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return pause(this.#lookEvery, undefined, { signal }).catch(() => {});
  }

  async #fill(cursor: AuditCursor): Promise<void> {
    try {
      await cursor.fill();
    } catch (cause) {
      throw new PlatformError("queue_unavailable", "Cannot read the audit trail: the broker does not answer", {
        cause,
        retryAfterSeconds: 1,
      });
    }
  }
}

function earliest(
  cursors: readonly AuditCursor[],
): { readonly cursor: AuditCursor; readonly message: PageMessage } | undefined {
  let found: { readonly cursor: AuditCursor; readonly message: PageMessage } | undefined;
  for (const cursor of cursors) {
    const message = cursor.head;
    if (message !== undefined && (found === undefined || message.storedAt < found.message.storedAt))
      found = { cursor, message };
  }
  return found;
}

/** Undefined for a message that is no record: it must not keep the others from being read. */
function parseRecord({ body }: PageMessage): AuditRecord | undefined {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8")) as AuditRecord;
  } catch {
    return undefined;
  }
}
