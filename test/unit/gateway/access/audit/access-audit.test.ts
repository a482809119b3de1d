import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { administrator } from "../../../../../runtime/core/access/principal.ts";
import type { ObservedAccess } from "../../../../../runtime/gateway/access/access-observer.ts";
import { AccessAudit } from "../../../../../runtime/gateway/access/audit/access-audit.ts";
import { eventually } from "../../../../support/eventually.ts";
import { MemoryAuditTrail } from "../../../../support/memory/memory-audit-trail.ts";

let now = 0;
let trail: MemoryAuditTrail;
let registry: Registry;
let lines: Record<string, unknown>[];
let audit: AccessAudit;

beforeEach(() => {
  now = 0;
  trail = new MemoryAuditTrail();
  registry = new Registry();
  lines = [];
  // At this level nothing but audit lines would be written.
  const log = pino({ level: "silent" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  audit = new AccessAudit({ trail, log, registry, now: () => now });
});
afterEach(() => audit.close());

const access = (over: Partial<ObservedAccess> = {}): ObservedAccess => ({
  principal: administrator("basic"),
  action: "Function:Delete",
  resources: ["dev:pay"],
  by: { role: "administrator", policy: "*", sid: "*" },
  reported: undefined,
  status: 202,
  code: undefined,
  address: "10.0.0.7",
  requestId: "r1",
  callId: undefined,
  ...over,
});
const unknown = (over: Partial<ObservedAccess> = {}): ObservedAccess =>
  access({ principal: undefined, resources: [], by: undefined, status: 401, code: "credentials_required", ...over });
const count = async (name: string, labels: Record<string, string> = {}): Promise<number> => {
  const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
  return values
    .filter((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
};

test("a change is a record, a line of the log and a count", async () => {
  audit.changed(access());
  const stored = async () => (await count("gateway_audit_records_total", { stored: "true" })) === 1;
  await eventually(stored, { what: "the count" });
  const [record] = trail.records;
  expect(record).toMatchObject({ subject: "admin", via: "basic", allowed: true, resource: "dev:pay", status: 202 });
  const { time, ...facts } = record ?? { time: "" };
  expect(lines).toMatchObject([{ msg: "audit", level: 30, at: time, ...facts }]);
});

test("a request that changes several functions has a record of each, one that changes none has one", () => {
  audit.changed(access({ resources: ["dev:pay", "dev:bill"] }));
  audit.changed(access({ resources: [] }));
  expect(trail.records.map(({ resource }) => resource)).toEqual(["dev:pay", "dev:bill", undefined]);
});

test("each refusal of a caller that identified itself is a record", () => {
  audit.refused(access({ by: undefined, status: 403, code: "forbidden" }));
  audit.refused(access({ by: undefined, status: 403, code: "forbidden" }));
  expect(trail.records).toMatchObject([
    { allowed: false, code: "forbidden", subject: "admin" },
    { allowed: false, code: "forbidden" },
  ]);
  expect(trail.records[0]?.count).toBeUndefined();
});

test("refusals of others are one record per network, action and minute", async () => {
  audit.refused(unknown({ address: "2001:db8::1" }));
  audit.refused(unknown({ address: "2001:db8::2" }));
  audit.refused(unknown({ address: "2001:db8:0:1::1" }));
  audit.refused(unknown({ action: "Function:Invoke", resources: ["dev:pay"] }));
  expect(trail.records).toEqual([]);
  now = 30_000;
  audit.refused(unknown({ address: "192.0.2.9" }));
  now = 60_000;
  await eventually(() => trail.records.length > 0, { what: "the records" });
  expect(trail.records).toMatchObject([
    { address: "2001:db8::2", action: "Function:Delete", count: 2 },
    { address: "2001:db8:0:1::1", count: 1 },
    { address: "10.0.0.7", action: "Function:Invoke", resource: "dev:pay", count: 1 },
  ]);
  expect(lines).toHaveLength(3);
});

test("of a flood only the number is kept", async () => {
  for (let host = 0; host < 250; host += 1) audit.refused(unknown({ address: `10.0.1.${host}` }));
  expect(await count("gateway_audit_unrecorded_refusals_total")).toBe(150);
  await audit.close();
  expect(trail.records).toHaveLength(100);
  expect(lines).toHaveLength(100);
});

test("without the broker the line is in the log, and is counted as not stored", async () => {
  trail.failure = new Error("away");
  audit.changed(access());
  await audit.close();
  expect(lines).toMatchObject([{ msg: "audit", resource: "dev:pay" }]);
  expect(trail.records).toEqual([]);
  expect(await count("gateway_audit_records_total", { allowed: "true", stored: "false" })).toBe(1);
});

test("at its end it writes what it folded, and waits for what is being stored", async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  vi.spyOn(trail, "append").mockReturnValueOnce(promise);
  audit.refused(unknown());
  let closed = false;
  const closing = audit.close().then(() => (closed = true));
  expect(lines).toMatchObject([{ count: 1, allowed: false }]);
  await Promise.resolve();
  expect(closed).toBe(false);
  resolve(true);
  await closing;
  expect(await count("gateway_audit_records_total", { stored: "true" })).toBe(1);
});
