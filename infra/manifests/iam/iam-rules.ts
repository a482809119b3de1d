import { nearestName } from "../../../runtime/api/closest-name.ts";
import { editionNames, editions } from "../../../runtime/api/editions.ts";
import { acceptIamDocuments, type PlacedIamDocument } from "../../../runtime/api/iam/accept-iam-documents.ts";
import type { Platform } from "../platform.ts";

/** The editions that have identity and access, in words. */
export const editionsWithIam = editionNames.filter((name) => editions[name].iam).join(" or ");

/**
 * Problems across the objects of identity and access; each begins with its key. What a running platform would report as
 * a fault of an object is refused here, before anything is created.
 */
export function iamRules({ edition, iam }: Pick<Platform, "edition" | "iam">): string[] {
  const given = Object.values(iam).some((part) => Object.keys(part).length > 0);
  if (given && !editions[edition].iam) {
    return [`edition: expected ${editionsWithIam} with iam, got "${edition}", which has no identity and access`];
  }
  const { faults } = acceptIamDocuments(documentsOf(iam));
  return [...clientProblems(iam), ...faults.map(({ place, sentence }) => `${place}: ${sentence}`)];
}

/** The objects that the stack makes; the place of each is its key. */
function documentsOf({ issuers, policies, roles }: Platform["iam"]): PlacedIamDocument[] {
  const placed = <K extends string, S>(kind: K, group: string, specs: Readonly<Record<string, S>>) =>
    Object.entries(specs).map(([name, spec]) => ({ kind, name, spec, place: `iam.${group}.${name}` }));
  return [
    ...placed("JwtIssuer", "issuers", issuers),
    ...placed("Policy", "policies", policies),
    ...placed("Role", "roles", roles),
  ];
}

/** Only the stack knows which secrets of clients there will be. */
function clientProblems({ issuers, clientSecrets }: Platform["iam"]): string[] {
  return Object.entries(issuers).flatMap(([name, { login }]) => {
    const client = login?.clientSecretName;
    if (client === undefined || clientSecrets.includes(client)) return [];
    const near = nearestName(client, clientSecrets);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    return [`iam.issuers.${name}.login.clientSecretName: expected a name of iam.clientSecrets, got "${client}"${hint}`];
  });
}
