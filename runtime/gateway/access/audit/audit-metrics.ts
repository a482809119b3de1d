import { Counter, type Registry } from "prom-client";

/** Counts the audit trail. */
export interface AuditMetrics {
  /** A record was written to the log, and is in the trail, or is not. */
  recorded(allowed: boolean, stored: boolean): void;
  /** A refusal got no record, as there were too many others. */
  unrecorded(): void;
}

/** Registers the counters of the audit trail. */
export function buildAuditMetrics(registry: Registry): AuditMetrics {
  const registers = [registry];
  const records = new Counter({
    name: "gateway_audit_records_total",
    help: "Records of the audit, by whether the request was allowed and whether the broker stored the record",
    labelNames: ["allowed", "stored"],
    registers,
  });
  for (const allowed of ["true", "false"]) for (const stored of ["true", "false"]) records.inc({ allowed, stored }, 0);
  const refusals = new Counter({
    name: "gateway_audit_unrecorded_refusals_total",
    help: "Refusals of callers without valid credentials that got no audit record, as there were more than 100 a second",
    registers,
  });
  return {
    recorded: (allowed, stored) => records.inc({ allowed: String(allowed), stored: String(stored) }),
    unrecorded: () => refusals.inc(),
  };
}
