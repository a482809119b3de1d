import type { AuditRecord } from "../../../api/schemas/iam/audit.ts";
import type { AuditQuery } from "../../ports/audit-trail.ts";
import { matchesWildcard } from "../wildcard.ts";

/** Whether a query asks for a record: by subject or name. One without a subject matches no query that names one. */
export function matchesAuditQuery(
  { time, subject, name, action, allowed }: AuditRecord,
  query: Omit<AuditQuery, "follow">,
): boolean {
  return (
    (query.allowed === undefined || query.allowed === allowed) &&
    (query.since === undefined || Date.parse(time) >= query.since) &&
    (query.subject === undefined || isOf(query.subject, subject) || isOf(query.subject, name)) &&
    (query.action === undefined || matchesWildcard(query.action, action))
  );
}

function isOf(pattern: string, text: string | undefined): boolean {
  return text !== undefined && matchesWildcard(pattern, text);
}
