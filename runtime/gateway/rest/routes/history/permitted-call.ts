import { PlatformError } from "../../../../api/platform-error.ts";
import { permitted, type Principal } from "../../../../core/access/principal.ts";
import { requireAccess } from "../../../access/access-denied.ts";
import { resourceOf } from "../../../access/function-callers.ts";
import type { AppParts } from "../../app-parts.ts";
import type { RequestAccess } from "../../request-access.ts";
import type { RouteAction } from "../../route.ts";
import { readKnownCall, type KnownCall } from "./known-call.ts";
import { requiredHistory } from "./required-history.ts";
import { requireAnywhere } from "./visible-functions.ts";

/** The action of seeing that a call is there. */
export const getCallAction = "Call:Get";

/** What a request asks of one call. */
export interface AskedOfCall {
  /** In lower case. */
  readonly id: string;
  /** Completes the sentence `Cannot <act>`. */
  readonly act: string;
  readonly action: RouteAction;
  readonly principal: Principal;
  readonly access: RequestAccess;
}

/**
 * The call that a request is about, if its sender may do what is asked; notes in `access` what it concerns.
 * @throws PlatformError `call_not_found`, also where the sender may not see the call; `history_off`
 * @throws AccessDenied
 */
export async function readPermittedCall(
  { history, queueParts: { ledger } }: Pick<AppParts, "history" | "queueParts">,
  { id, act, action, principal, access }: AskedOfCall,
): Promise<KnownCall> {
  requireAnywhere(principal, action);
  const known = await readKnownCall(ledger, requiredHistory(history, act), id);
  const resource = known === undefined ? undefined : resourceOf(known.call.row);
  const may = (what: string) => resource !== undefined && permitted(principal, { action: what, resource }).allowed;
  if (known === undefined || resource === undefined || (!may(action) && !may(getCallAction)))
    throw new PlatformError("call_not_found", `Cannot ${act}: it is unknown or expired`);
  access.by = requireAccess(principal, { action, resource });
  access.resources = [resource];
  return known;
}
