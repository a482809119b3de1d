import { expect, test } from "vitest";

import { KeyReports } from "../../../../../runtime/gateway/access/tokens/report-keys.ts";
import type { TrustedIssuer } from "../../../../../runtime/core/access/rule-set.ts";
import { createLog } from "../../../../../runtime/process/log.ts";
import { eventually } from "../../../../support/eventually.ts";
import { MemoryAccessRules } from "../../../../support/memory/memory-access-rules.ts";

const log = createLog("test", "silent", "json");
const issuer = (name: string) => ({
  apiVersion: "iam.service.com/v1",
  kind: "JwtIssuer",
  metadata: { name },
  spec: { iss: `https://${name}.example`, aud: ["weir"] },
});

test("whether the keys of each issuer can be read is noted before a token needs them", async () => {
  const rules = new MemoryAccessRules(issuer("good"), issuer("away"));
  const noted = new Map<string, string | undefined>();
  const reportKeys = async (name: string, fault: string | undefined): Promise<void> => void noted.set(name, fault);
  const check = async ({ name }: TrustedIssuer): Promise<unknown> =>
    name === "away" ? new Error("Cannot read: connect ECONNREFUSED") : undefined;
  const reports = new KeyReports({
    keys: { check },
    rules: { watch: (observe) => rules.watch(observe), reportKeys },
    inForce: () => rules.rules,
    log,
  });
  reports.look();
  await eventually(() => noted.size === 2, { what: "both issuers" });
  expect(Object.fromEntries(noted)).toEqual({ good: undefined, away: "Cannot read: connect ECONNREFUSED" });
  reports.close();
});

test("where rules have no place for it, no issuer is asked", () => {
  const rules = new MemoryAccessRules(issuer("good"));
  const asked: string[] = [];
  const check = async ({ name }: TrustedIssuer): Promise<unknown> => void asked.push(name);
  const reports = new KeyReports({ keys: { check }, rules, inForce: () => rules.rules, log });
  reports.look();
  expect(asked).toEqual([]);
  reports.close();
});
