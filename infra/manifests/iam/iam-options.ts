import { checkIamManifest } from "../../../runtime/api/iam/iam-document.ts";
import { iamApiVersion, type IamKind } from "../../../runtime/api/iam/iam-schemas.ts";
import type { JwtIssuerSpec, PolicySpec, RoleSpec } from "../../../runtime/api/resources/iam-resources.ts";
import { isMapping } from "../../../runtime/settings/mapping.ts";
import type { Setting } from "../../../runtime/settings/setting.ts";

interface Specs {
  readonly JwtIssuer: JwtIssuerSpec;
  readonly Policy: PolicySpec;
  readonly Role: RoleSpec;
}

/** Objects of identity and access, and the names of the clients whose secrets the gateways get. */
export const iamOptions = {
  issuers: specsOf("issuers", "JwtIssuer", "Issuers whose tokens are trusted"),
  policies: specsOf("policies", "Policy", "What is allowed"),
  roles: specsOf("roles", "Role", "Who is granted which policies"),
  clientSecrets: clientSecretNames(),
} as const;

/** Objects of one kind: the spec of each by its name; only in a file. */
function specsOf<K extends IamKind>(name: string, kind: K, about: string): Setting<Readonly<Record<string, Specs[K]>>> {
  return {
    name,
    about: `${about}, by name: each is the spec of a ${kind}`,
    kind: "mapping",
    fallback: "",
    parse: () => ({ expected: "a mapping" }),
    parseFile: (content) => {
      const mapping = content ?? {};
      if (!isMapping(mapping)) return { problems: [`${name}: expected a mapping from names to specs of a ${kind}`] };
      const problems = Object.entries(mapping).flatMap(([key, spec]) => {
        const why = specFault(kind, key, spec);
        return why === undefined ? [] : [`${name}.${key}: ${why}`];
      });
      return problems.length > 0 ? { problems } : { value: mapping as Readonly<Record<string, Specs[K]>> };
    },
  };
}

/** What is wrong with a spec, or with the name of its object, in one sentence; undefined = nothing. */
export function specFault(kind: IamKind, name: string, spec: unknown): string | undefined {
  const { finding } = checkIamManifest({ apiVersion: iamApiVersion, kind, metadata: { name }, spec });
  return finding?.sentence
    .replace(/^field "metadata\.name"/, "its name")
    .replace(/^field "spec"/, "it")
    .replace(/^field "spec\.?/, 'field "');
}

const clientName = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

/** Values are secret and are not kept here; null stands for one that cannot be read. */
function clientSecretNames(): Setting<readonly string[]> {
  const name = "clientSecrets";
  return {
    name,
    about:
      "Secrets of the platform's clients at issuers, by the name in login.clientSecretName; each must be encrypted",
    kind: "mapping",
    fallback: "",
    parse: () => ({ expected: "a mapping of texts" }),
    parseFile: (content) => {
      const mapping = content ?? {};
      if (!isMapping(mapping)) return { problems: [`${name}: expected a mapping of texts`] };
      const problems = Object.entries(mapping).flatMap(([key, secret]) => [
        ...(clientName.test(key) && key.length <= 253
          ? []
          : [`${name}["${key}"]: expected a name of a to z, 0 to 9, and "-" and "." inside`]),
        ...(secret === null || (typeof secret === "string" && secret !== "")
          ? []
          : [`${name}.${key}: expected a text`]),
      ]);
      return problems.length > 0 ? { problems } : { value: Object.keys(mapping).toSorted() };
    },
  };
}
