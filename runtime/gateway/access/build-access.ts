import type { Registry } from "prom-client";

import { editions } from "../../api/editions.ts";
import { isOwnToken } from "../../core/access/own-token.ts";
import { noRules, type RuleFault, type RuleSet } from "../../core/access/rule-set.ts";
import type { AccessRules } from "../../core/ports/access-rules.ts";
import type { AuditTrail } from "../../core/ports/audit-trail.ts";
import type { IssuerDocuments } from "../../core/ports/issuer-documents.ts";
import type { Log } from "../../process/log.ts";
import type { AdmissionParts } from "../calls/admission.ts";
import type { GatewaySettings } from "../settings.ts";
import { unobserved, type AccessObserver } from "./access-observer.ts";
import { AccessAudit } from "./audit/access-audit.ts";
import { openBasicAuth, openToAll, type BasicAuth } from "./basic-auth.ts";
import { FunctionCallers } from "./function-callers.ts";
import { withReportedRoles } from "./reported-roles.ts";
import { TokenHolders } from "./token-holders.ts";
import { KeyReports } from "./tokens/report-keys.ts";
import type { OwnKeys } from "./tokens/own-keys.ts";
import type { TokenParts } from "./tokens/token-parts.ts";
import { TrustedKeys } from "./tokens/trusted-keys.ts";

/** What identity and access of a gateway come from. */
export interface AccessSources {
  readonly rules: AccessRules;
  /** Signs and verifies the platform's tokens. */
  readonly keys: OwnKeys;
  /** What trusted issuers publish. */
  readonly documents: IssuerDocuments;
}

/** The parts that identity and access are built from. */
export interface AccessParts {
  readonly settings: Pick<GatewaySettings, "basicAuth" | "edition" | "publicUrl" | "secretMountPath">;
  /** Absent, or an edition without IAM: only the administrator is known. */
  readonly access?: AccessSources | undefined;
  /** Keeps who changed what, and who was refused what; absent: nothing does. */
  readonly audit?: AuditTrail | undefined;
  readonly registry: Registry;
  readonly log: Log;
}

/** Who may do what, in one gateway. */
export interface BuiltAccess {
  readonly auth: BasicAuth;
  /** Undefined where only the administrator is known. */
  readonly tokens: TokenParts | undefined;
  readonly observer: AccessObserver;
  /** Decides on calls of functions. */
  readonly admission: Pick<AdmissionParts, "readToken" | "authorise" | "isPlatformCredential" | "accessObserver">;
  /**
   * Follows the rules; until it resolves, there are none. The returned function ends that.
   * @throws PlatformError when they cannot be read at all
   */
  watch(): Promise<() => void>;
  /** Resolves when what was observed is kept. */
  close(): Promise<void>;
}

/** Builds it; reads only the administrator's credentials. */
export function buildAccess({ settings, access, audit: trail, registry, log }: AccessParts): BuiltAccess {
  const auth = settings.basicAuth ? openBasicAuth(settings.secretMountPath) : openToAll;
  const sources = editions[settings.edition].iam ? access : undefined;
  let inForce = noRules;
  const tokens = sources === undefined ? undefined : tokenParts(sources, () => inForce, log);
  const callers = new FunctionCallers(auth, tokens?.holders);
  const audit = trail === undefined ? undefined : new AccessAudit({ trail, log, registry });
  const observer = withReportedRoles(audit ?? unobserved, log);
  const issuer = tokens?.keys.issuer ?? settings.publicUrl;
  return {
    auth,
    tokens,
    observer,
    admission: {
      readToken: (authorization) => callers.readToken(authorization),
      authorise: (credentials, ref) => callers.authorise(credentials, ref),
      isPlatformCredential: (authorization) =>
        auth.namesPlatformUser(authorization) || isOwnToken(authorization, issuer),
      accessObserver: observer,
    },
    watch: async () => {
      if (sources === undefined || tokens === undefined) return () => {};
      const reports = new KeyReports({ keys: tokens.issuers, rules: sources.rules, inForce: () => inForce, log });
      const end = await sources.rules.watch((rules) => {
        logNewFaults(rules, inForce, log);
        inForce = rules;
        reports.look();
      });
      return () => {
        reports.close();
        end();
      };
    },
    close: async () => audit?.close(),
  };
}

function logNewFaults({ faults }: RuleSet, { faults: known }: RuleSet, log: Log): void {
  const said = new Set(known.map(faultText));
  for (const fault of faults) {
    const { subject, place, sentence: reason } = fault;
    if (!said.has(faultText(fault))) log.warn({ subject, place, reason }, "rule is left out, or works in part");
  }
}

function faultText({ subject, place = "", sentence }: RuleFault): string {
  return `${subject}/${place}/${sentence}`;
}

function tokenParts({ keys, documents }: AccessSources, rules: TokenParts["rules"], log: Log): TokenParts {
  const holders = new TokenHolders(keys.reader, rules);
  return { rules, keys, holders, issuers: new TrustedKeys({ documents, rules, log }), now: Date.now };
}
