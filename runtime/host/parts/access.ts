import { FileAccessRules } from "../../adapters/files/rules/file-access-rules.ts";
import { HttpIssuerDocuments } from "../../adapters/http/issuers/http-issuer-documents.ts";
import { makeDirectoryDurably } from "../../disk/durable-files.ts";
import type { AccessSources } from "../../gateway/access/build-access.ts";
import { openOwnKeys } from "../../gateway/access/tokens/own-keys.ts";
import type { HostIdentity } from "./identity.ts";
import type { HostStart } from "./host-start.ts";
import type { Outgoing } from "./outgoing.ts";
import type { HostPlace } from "./place.ts";

/** What the gateway knows callers by, besides the administrator. */
export interface HostAccess {
  /** Undefined in editions without IAM. */
  readonly access: AccessSources | undefined;
}

/** Opens the rules of this machine and its key for tokens. */
export async function openAccess(given: HostStart & HostPlace & Outgoing & HostIdentity): Promise<HostAccess> {
  const { settings, layout, log, lifecycle, identity, workloadKey } = given;
  if (identity === undefined) return { access: undefined };
  const { issuer } = identity;
  if (settings.iamDirectory === undefined) await makeDirectoryDurably(layout.iam);
  const rules = await FileAccessRules.open(settings.iamDirectory ?? layout.iam, {
    onFailure: (err) => log.error({ err }, "rules were not read"),
  });
  lifecycle.onClose("access rules", () => rules.close());
  const documents = new HttpIssuerDocuments({ ...given.callbackRules, egress: settings });
  return { access: { rules, documents, keys: openOwnKeys({ directory: layout.credentials, issuer, workloadKey }) } };
}
