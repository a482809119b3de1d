import { isFunctionName, isNamespaceName } from "../../../api/grammar.ts";
import { realNamespace, type NamespaceRules } from "../../namespaces/namespace-rules.ts";
import type { Claims } from "../claims.ts";
import { coversResource, namesAction } from "../decide-access.ts";
import type { Grants } from "../grants.ts";
import { matchesWildcard } from "../wildcard.ts";

/** What a function token may call: functions that its permissions and, if it has any, its audience name. */
export interface FunctionScope {
  /** Resources as in a Policy: `*`, `namespace:*`, `namespace:function`, with `*` inside parts. */
  readonly permissions: readonly string[];
  /** `namespace:function` or `namespace:*`; none = all that is permitted. */
  readonly audience: readonly string[];
}

const invoke = "Function:Invoke";

/** The resources whose functions the grants allow to call, each once; only `*` if it is among them. */
export function callablePermissions({ allowed }: Grants): string[] {
  const resources = allowed
    .filter(({ actions }) => actions.some((listed) => namesAction(listed, invoke)))
    .flatMap((grant) => grant.resources);
  return resources.includes("*") ? ["*"] : [...new Set(resources)].toSorted();
}

/**
 * `namespace:function` or `namespace:*` with the namespace's real name, aliases resolved; undefined when `text` is
 * neither.
 */
export function parseAudience(text: string, namespaces: NamespaceRules): string | undefined {
  const [namespace = "", name = "", ...more] = text.split(":");
  if (more.length > 0 || !isNamespaceName(namespace) || !(name === "*" || isFunctionName(name))) return undefined;
  return `${realNamespace(namespace, namespaces)}:${name}`;
}

/** Whether a permission covers a function of the audience; of `namespace:*`, whether it may cover any. */
export function reachesAudience(permission: string, audience: string): boolean {
  if (!audience.endsWith(":*")) return coversResource(permission, audience);
  const [namespace = ""] = audience.split(":", 1);
  return matchesWildcard(permission.split(":", 1)[0] ?? "", namespace);
}

/** The scope in the claims of a function token; undefined when they hold none that is well-formed. */
export function functionScopeIn(claims: Claims): FunctionScope | undefined {
  const { function: scope } = claims;
  if (typeof scope !== "object" || scope === null) return undefined;
  const { permissions, audience } = scope as { readonly permissions?: unknown; readonly audience?: unknown };
  return isTexts(permissions) && isTexts(audience) ? { permissions, audience } : undefined;
}

/** Whether a function token is good for a call of `namespace:function`; the whole name must match. */
export function withinScope({ permissions, audience }: FunctionScope, resource: string): boolean {
  const isNamed = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => coversResource(pattern, resource));
  return isNamed(permissions) && (audience.length === 0 || isNamed(audience));
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((member) => typeof member === "string");
}
