import { permittedAnywhere } from "../../../../core/access/permitted-anywhere.ts";
import { permitted, permittedWithin, type Principal } from "../../../../core/access/principal.ts";
import type { FunctionRef } from "../../../../core/functions/function-ref.ts";
import { isFunction } from "../../../../core/history/rollups/presence.ts";
import type { CallHistory } from "../../../../core/ports/call-history.ts";
import { requireAccess } from "../../../access/access-denied.ts";
import { resourceOf } from "../../../access/function-callers.ts";

/** Whose calls a request is about: of one function, of those of a namespace, or of all. */
export interface CallScope {
  readonly function?: FunctionRef;
  readonly namespace?: string;
}

/**
 * Returns if a sender may do `action` to something within a scope.
 * @throws AccessDenied otherwise
 */
export function requireWithin(principal: Principal, action: string, scope: CallScope): void {
  const { function: ref, namespace } = scope;
  if (ref !== undefined) requireAccess(principal, { action, resource: resourceOf(ref) });
  else if (namespace === undefined) requireAnywhere(principal, action);
  else if (!permittedWithin(principal, action, namespace)) {
    requireAccess(principal, { action, resource: `${namespace}:*` });
  }
}

/**
 * Returns if a sender may do `action` to anything at all.
 * @throws AccessDenied otherwise
 */
export function requireAnywhere(principal: Principal, action: string): void {
  if (!permittedAnywhere(principal, action)) requireAccess(principal, { action, resource: "*" });
}

/** Of the functions that the history knows within a scope, those that a sender may do `action` to. */
export async function visibleFunctions(
  reads: Pick<CallHistory, "functions">,
  principal: Principal,
  action: string,
  { namespace }: Pick<CallScope, "namespace">,
): Promise<readonly FunctionRef[]> {
  const known = await reads.functions();
  return known.filter(
    (ref) =>
      isFunction(ref) &&
      (namespace === undefined || ref.namespace === namespace) &&
      permitted(principal, { action, resource: resourceOf(ref) }).allowed,
  );
}

/** Whether a sender may do `action` to every function there is. */
export function seesAll(principal: Principal, action: string): boolean {
  return permitted(principal, { action, resource: "*" }).allowed;
}
