import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { makeSigningKey } from "../../runtime/api/iam/signing-keys.ts";
import { credentialFile } from "../../runtime/api/names.ts";
import { buildRuleSet, type AccessDocument } from "../../runtime/core/access/build-rule-set.ts";
import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import { openOwnKeys } from "../../runtime/gateway/access/tokens/own-keys.ts";

const roles = 10_000;
const subjectIssuer = "https://issuer.example";
/** Name of the tokens' issuer: the gateway of a bench. */
export const benchIssuer = "https://weir.example";

/** Rules by which one of very many roles lets subject `caller` call every function. */
export function guardingRules(): RuleSet {
  const role = (name: string, subject: string): AccessDocument => ({
    kind: "Role",
    name,
    spec: { policy: ["callers"], principal: { "jwt:sub": [subject] } },
  });
  return buildRuleSet([
    { kind: "JwtIssuer", name: "issuer", spec: { iss: subjectIssuer, aud: ["weir"] } },
    {
      kind: "Policy",
      name: "callers",
      spec: { statement: [{ sid: "call", effect: "Allow", action: ["Function:Invoke"], resource: ["functions:*"] }] },
    },
    role("caller", "caller"),
    ...Array.from({ length: roles }, (_, index) => role(`other-${index}`, `other-${index}`)),
  ]);
}

/** A directory with the key of a gateway, and a token that it accepts for an hour. */
export interface CallerToken {
  readonly directory: string;
  readonly token: string;
  remove(): Promise<void>;
}

/** Makes both below the system's temporary directory. */
export async function makeCallerToken(): Promise<CallerToken> {
  const directory = await mkdtemp(join(tmpdir(), "weir-bench-"));
  await writeFile(join(directory, credentialFile.issuerKey), makeSigningKey("tokens"), { mode: 0o600 });
  const issuedAt = Math.floor(Date.now() / 1_000);
  const claims = { sub: "fed:caller", "fed:iss": subjectIssuer, "fed:aud": "weir", policy: ["callers"] };
  const keys = openOwnKeys({ directory, issuer: benchIssuer });
  const token = await keys.sign("api", claims, { issuedAt, expiresAt: issuedAt + 3_600 });
  return { directory, token, remove: () => rm(directory, { recursive: true, force: true }) };
}
