import type { AccessRules } from "../../core/ports/access-rules.ts";
import type { IssuerDocuments } from "../../core/ports/issuer-documents.ts";
import { clusterTokenIssuer } from "../../settings/platform-settings.ts";
import type { GatewaySettings } from "../settings.ts";
import type { AccessSources } from "./build-access.ts";
import { openOwnKeys } from "./tokens/own-keys.ts";

/** What a gateway of a cluster knows callers by; undefined without rules, in editions without IAM. */
export function openClusterAccess(
  settings: Pick<GatewaySettings, "clusterGatewayUrl" | "platformNamespace" | "publicUrl" | "secretMountPath">,
  rules: AccessRules | undefined,
  documents: IssuerDocuments,
): AccessSources | undefined {
  if (rules === undefined) return undefined;
  const keys = openOwnKeys({ directory: settings.secretMountPath, issuer: clusterTokenIssuer(settings) });
  return { rules, documents, keys };
}
