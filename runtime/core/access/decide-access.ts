import type { Grant, Grants } from "./grants.ts";
import { matchesWildcard } from "./wildcard.ts";

/** What someone wants to do. */
export interface AccessRequest {
  /** `Kind:Verb`, e.g. `Function:Delete`. */
  readonly action: string;
  /** `namespace:function`, `namespace:*` or `*`, in real names: no alias. */
  readonly resource: string;
}

/** Whether it is allowed, and by what. */
export type AccessDecision =
  | { readonly allowed: true; readonly by: Pick<Grant, "role" | "policy" | "sid"> }
  | {
      readonly allowed: false;
      /** What a policy would have to allow. */
      readonly missing: AccessRequest;
      /** A role that only reports would have allowed it. */
      readonly reported: Pick<Grant, "role" | "policy" | "sid"> | undefined;
    };

/** Decides by default deny: one statement that names the action and the resource allows it. */
export function decideAccess(grants: Grants, request: AccessRequest): AccessDecision {
  const by = grants.allowed.find((grant) => allows(grant, request));
  if (by !== undefined) return { allowed: true, by: originOf(by) };
  const reported = grants.reported.find((grant) => allows(grant, request));
  return { allowed: false, missing: request, reported: reported === undefined ? undefined : originOf(reported) };
}

/** Whether the action is allowed on any resource of a namespace. */
export function reachesInto({ allowed }: Grants, action: string, namespace: string): boolean {
  return allowed.some(
    ({ actions, resources }) =>
      actions.some((listed) => namesAction(listed, action)) &&
      resources.some((pattern) => matchesWildcard(partsOf(pattern)[0], namespace)),
  );
}

/** Whether `listed` names the action: itself, all of its kind, or all. */
export function namesAction(listed: string, action: string): boolean {
  if (listed === "*" || listed === action) return true;
  return listed.endsWith(":*") && action.startsWith(listed.slice(0, -1));
}

/**
 * Whether `pattern` covers `resource`: `*` covers all, else namespace and function are matched each by its own part,
 * so that no `*` reaches across the colon.
 */
export function coversResource(pattern: string, resource: string): boolean {
  if (pattern === "*") return true;
  const [wantedNamespace, wantedName] = partsOf(pattern);
  const [namespace, name] = partsOf(resource);
  if (wantedName === undefined || name === undefined) return false;
  return matchesWildcard(wantedNamespace, namespace) && matchesWildcard(wantedName, name);
}

function allows({ actions, resources }: Grant, { action, resource }: AccessRequest): boolean {
  return (
    actions.some((listed) => namesAction(listed, action)) &&
    resources.some((pattern) => coversResource(pattern, resource))
  );
}

function originOf({ role, policy, sid }: Grant): Pick<Grant, "role" | "policy" | "sid"> {
  return { role, policy, sid };
}

function partsOf(text: string): [string, string | undefined] {
  const colon = text.indexOf(":");
  return colon === -1 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}
