import { randomUUID } from "node:crypto";

import type { Registry } from "prom-client";

import type { AuditRecord } from "../../../api/schemas/iam/audit.ts";
import { auditRecord } from "../../../core/access/audit/audit-record.ts";
import { RefusalFold } from "../../../core/access/audit/refusal-fold.ts";
import type { AuditTrail } from "../../../core/ports/audit-trail.ts";
import type { Log } from "../../../process/log.ts";
import { networkOf } from "../../edge/client-network.ts";
import type { AccessObserver, ObservedAccess } from "../access-observer.ts";
import { buildAuditMetrics, type AuditMetrics } from "./audit-metrics.ts";

/** Milliseconds between two looks for refusals whose minute is over. */
const foldPeriod = 1_000;
/** Milliseconds for which `close` waits for the broker. */
const closeTimeout = 3_000;

export interface AccessAuditParts {
  readonly trail: AuditTrail;
  readonly log: Log;
  readonly registry: Registry;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/**
 * Records what was changed and refused: each record is a line `audit` of the log, whatever the log level, and is sent to
 * the trail without waiting. Refusals of callers that did not identify themselves are folded (`RefusalFold`), so that
 * nobody fills log or trail from outside.
 */
export class AccessAudit implements AccessObserver {
  readonly #trail: AuditTrail;
  readonly #lines: Log;
  readonly #metrics: AuditMetrics;
  readonly #now: () => number;
  readonly #fold = new RefusalFold();
  readonly #pending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor({ trail, log, registry, now = () => performance.now() }: AccessAuditParts) {
    this.#trail = trail;
    this.#lines = log.child({}, { level: "info" });
    this.#metrics = buildAuditMetrics(registry);
    this.#now = now;
    this.#timer = setInterval(() => this.#recordAll(this.#fold.due(this.#now())), foldPeriod).unref();
  }

  refused(access: ObservedAccess): void {
    const refusal = recordOf(access, false, access.resources[0]);
    if (access.principal !== undefined) {
      this.#record(refusal);
      return;
    }
    if (!this.#fold.add(refusal, networkOf(access.address), this.#now())) this.#metrics.unrecorded();
  }

  changed(access: ObservedAccess): void {
    const resources = access.resources.length === 0 ? [undefined] : access.resources;
    for (const resource of resources) this.#record(recordOf(access, true, resource));
  }

  /** Records the refusals of this minute, and waits a moment until everything is stored. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#recordAll(this.#fold.rest());
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, closeTimeout);
    await Promise.race([Promise.all(this.#pending), late]);
    clearTimeout(timer);
  }

  #recordAll(records: readonly AuditRecord[]): void {
    for (const record of records) this.#record(record);
  }

  #record(record: AuditRecord): void {
    // The line has its own `time`.
    const { time: at, ...facts } = record;
    this.#lines.info({ at, ...facts }, "audit");
    const storing = this.#trail.append(record).then((stored) => {
      this.#metrics.recorded(record.allowed, stored);
      this.#pending.delete(storing);
    });
    this.#pending.add(storing);
  }
}

function recordOf(access: ObservedAccess, allowed: boolean, resource: string | undefined): AuditRecord {
  const { principal, resources: _resources, ...facts } = access;
  return auditRecord({ ...facts, at: Date.now(), caller: principal, allowed, resource }, randomUUID());
}
