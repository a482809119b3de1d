import { nearestName } from "../../../runtime/api/closest-name.ts";
import { editionNames, editions } from "../../../runtime/api/editions.ts";
import type { RoleSpec } from "../../../runtime/api/resources/iam-resources.ts";
import type { Platform } from "../platform.ts";

const issuerClaim = "jwt:iss";

/** The editions that have identity and access, in words. */
export const editionsWithIam = editionNames.filter((name) => editions[name].iam).join(" or ");

/**
 * Problems across the objects of identity and access; each names key, value and rule. What a running platform would
 * report as a fault of an object is refused here, before anything is created.
 */
export function iamRules({ edition, iam }: Pick<Platform, "edition" | "iam">): string[] {
  const given = Object.values(iam).some((part) => Object.keys(part).length > 0);
  if (given && !editions[edition].iam) {
    return [`edition: expected ${editionsWithIam} with iam, got "${edition}", which has no identity and access`];
  }
  return [...issuerProblems(iam), ...roleProblems(iam)];
}

function issuerProblems({ issuers, clientSecrets }: Platform["iam"]): string[] {
  const owners = new Map<string, string>();
  return Object.entries(issuers).flatMap(([name, { iss, login }]) => {
    const owner = owners.get(iss);
    if (owner === undefined) owners.set(iss, name);
    const client = login?.clientSecretName;
    return [
      ...(owner === undefined
        ? []
        : [`iam.issuers.${name}.iss: expected another than that of "${owner}", got "${iss}"`]),
      ...(client === undefined || clientSecrets.includes(client)
        ? []
        : [
            `iam.issuers.${name}.login.clientSecretName: expected a name of iam.clientSecrets, got "${client}"${hint(client, clientSecrets)}`,
          ]),
    ];
  });
}

function roleProblems({ issuers, policies, roles }: Platform["iam"]): string[] {
  const known = Object.keys(policies);
  const count = Object.keys(issuers).length;
  return Object.entries(roles).flatMap(([name, role]) => [
    ...role.policy
      .filter((policy) => !known.includes(policy))
      .map(
        (policy) => `iam.roles.${name}.policy: expected names of iam.policies, got "${policy}"${hint(policy, known)}`,
      ),
    ...(count > 1 && !namesIssuer(role)
      ? [
          `iam.roles.${name}: expected ${issuerClaim} in principal or condition, as there are ${count} issuers, got none`,
        ]
      : []),
  ]);
}

function namesIssuer({ principal, condition }: RoleSpec): boolean {
  return [principal ?? {}, ...Object.values(condition ?? {})].some((claims) => Object.hasOwn(claims, issuerClaim));
}

function hint(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}
