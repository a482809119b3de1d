import { noGrants } from "../../core/access/grants.ts";
import { tokenHolder } from "../../core/access/principal.ts";
import type { AccessObserver } from "./access-observer.ts";
import type { TokenParts } from "./tokens/token-parts.ts";

/** Id of the operation that exchanges tokens, for the audit. */
const action = "exchangeToken";

/** The parts of the token exchange, which tells `observer` of what it refuses. */
export function observedExchange(parts: TokenParts | undefined, observer: AccessObserver): TokenParts | undefined {
  if (parts === undefined) return undefined;
  return {
    ...parts,
    refused: (request, fault) => {
      parts.refused?.(request, fault);
      observer.refused({
        principal: fault.subject === undefined ? undefined : tokenHolder(fault.subject, noGrants),
        action,
        resources: [],
        by: undefined,
        reported: undefined,
        status: fault.error === "temporarily_unavailable" ? 503 : 400,
        code: undefined,
        address: request.access.address,
        requestId: request.id,
        callId: undefined,
      });
    },
  };
}
