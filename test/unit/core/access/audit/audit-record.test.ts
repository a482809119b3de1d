import { expect, test } from "vitest";

import { auditRecord, type AuditFacts } from "../../../../../runtime/core/access/audit/audit-record.ts";
import { matchesAuditQuery } from "../../../../../runtime/core/access/audit/matches-audit-query.ts";

const facts: AuditFacts = {
  at: Date.UTC(2026, 0, 31, 12),
  caller: { via: "token", subject: "fed:alice", name: "alice@example.com", issuer: "https://issuer.example" },
  action: "Function:Delete",
  resource: "dev:pay",
  allowed: true,
  by: { role: "deployers", policy: "deploy", sid: "1" },
  reported: undefined,
  status: 202,
  code: undefined,
  address: "10.0.0.7",
  callId: undefined,
  requestId: "r1",
};

test("a record holds what is known, and nothing else", () => {
  expect(auditRecord(facts, "id")).toStrictEqual({
    id: "id",
    time: "2026-01-31T12:00:00.000Z",
    subject: "fed:alice",
    name: "alice@example.com",
    issuer: "https://issuer.example",
    via: "token",
    action: "Function:Delete",
    resource: "dev:pay",
    allowed: true,
    by: { role: "deployers", policy: "deploy", sid: "1" },
    status: 202,
    address: "10.0.0.7",
    requestId: "r1",
  });
  const unknown = { ...facts, caller: undefined, resource: undefined, by: undefined, requestId: undefined };
  expect(auditRecord({ ...unknown, allowed: false, status: 401, code: "credentials_required" }, "id")).toStrictEqual({
    id: "id",
    time: "2026-01-31T12:00:00.000Z",
    action: "Function:Delete",
    allowed: false,
    status: 401,
    code: "credentials_required",
    address: "10.0.0.7",
  });
});

test("a record of a call names it, and one of a refusal says what a reporting role would have allowed", () => {
  const reported = { role: "tried", policy: "deploy", sid: "2" };
  expect(auditRecord({ ...facts, allowed: false, by: undefined, reported, callId: "c1" }, "id")).toMatchObject({
    allowed: false,
    reported,
    callId: "c1",
  });
});

test("what facts have besides is not recorded, whatever it is", () => {
  const more = {
    ...facts,
    caller: { ...facts.caller, claims: { secret: "s3cret" }, grants: "everything" },
    by: { ...facts.by, actions: ["*"] },
    body: "s3cret",
  } as unknown as AuditFacts;
  expect(auditRecord(more, "id")).toEqual(auditRecord(facts, "id"));
});

test("a long text is cut, and half a character is none", () => {
  const caller = { via: "token" as const, subject: "x".repeat(600), issuer: "\ud800" };
  const { subject, issuer } = auditRecord({ ...facts, caller }, "id");
  expect(subject).toBe(`${"x".repeat(511)}…`);
  expect(issuer).toBe("\ufffd");
  expect(auditRecord({ ...facts, action: "x".repeat(512) }, "id").action).toBe("x".repeat(512));
});

test.each([
  [{}, true],
  [{ since: facts.at }, true],
  [{ since: facts.at + 1 }, false],
  [{ subject: "fed:alice" }, true],
  [{ subject: "alice" }, false],
  [{ subject: "alice@*" }, true],
  [{ subject: "*alice" }, true],
  [{ action: "Function:*" }, true],
  [{ action: "Function" }, false],
  [{ allowed: false }, false],
  [{ allowed: true, action: "*", subject: "*" }, true],
])("a query %j matches the record: %s", (over, matches) => {
  const query = { since: undefined, subject: undefined, action: undefined, allowed: undefined, ...over };
  expect(matchesAuditQuery(auditRecord(facts, "id"), query)).toBe(matches);
});

test("a record without a subject matches no query for one", () => {
  const query = { since: undefined, subject: "*", action: undefined, allowed: undefined };
  expect(matchesAuditQuery(auditRecord({ ...facts, caller: undefined }, "id"), query)).toBe(false);
});
