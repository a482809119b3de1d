import type { ErrorCode } from "../../../api/platform-error.ts";
import type { AuditRecord, AuditStatement } from "../../../api/schemas/iam/audit.ts";
import type { Principal } from "../principal.ts";

/** What is known of a change or a refusal. */
export interface AuditFacts {
  /** Unix milliseconds. */
  readonly at: number;
  /** Absent: the caller did not identify itself. */
  readonly caller: Pick<Principal, "via" | "subject" | "name" | "issuer"> | undefined;
  readonly action: string;
  readonly resource: string | undefined;
  readonly allowed: boolean;
  /** What allowed it. */
  readonly by: AuditStatement | undefined;
  /** What would have allowed it, if its role did more than report. */
  readonly reported: AuditStatement | undefined;
  readonly status: number;
  /** Code of the error, if the response is one. */
  readonly code: ErrorCode | undefined;
  readonly address: string;
  readonly callId: string | undefined;
  readonly requestId: string | undefined;
}

/** Most characters of one text: claims of tokens may be longer. */
const maxText = 512;

/** The record of an event, every text bounded. */
export function auditRecord(facts: AuditFacts, id: string): AuditRecord {
  const { caller, by, reported } = facts;
  return {
    id,
    time: new Date(facts.at).toISOString(),
    ...(caller === undefined ? {} : { subject: bounded(caller.subject), via: caller.via }),
    ...(caller?.name === undefined ? {} : { name: bounded(caller.name) }),
    ...(caller?.issuer === undefined ? {} : { issuer: bounded(caller.issuer) }),
    action: bounded(facts.action),
    ...(facts.resource === undefined ? {} : { resource: bounded(facts.resource) }),
    allowed: facts.allowed,
    ...(by === undefined ? {} : { by: boundedStatement(by) }),
    ...(reported === undefined ? {} : { reported: boundedStatement(reported) }),
    status: facts.status,
    ...(facts.code === undefined ? {} : { code: facts.code }),
    address: bounded(facts.address),
    ...(facts.callId === undefined ? {} : { callId: bounded(facts.callId) }),
    ...(facts.requestId === undefined ? {} : { requestId: bounded(facts.requestId) }),
  };
}

function boundedStatement({ role, policy, sid }: AuditStatement): AuditStatement {
  return { role: bounded(role), policy: bounded(policy), sid: bounded(sid) };
}

function bounded(text: string): string {
  return (text.length > maxText ? `${text.slice(0, maxText - 1)}…` : text).toWellFormed();
}
