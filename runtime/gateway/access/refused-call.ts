import { PlatformError } from "../../api/platform-error.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import { statusOf } from "../error-handler.ts";
import { AccessDenied } from "./access-denied.ts";
import type { ObservedAccess } from "./access-observer.ts";
import { invokeAction, resourceOf } from "./function-callers.ts";

/** The call of a protected function that was refused with `err`. */
export function refusedCall(
  err: unknown,
  call: {
    readonly principal: Principal | undefined;
    readonly ref: FunctionRef;
    readonly address: string;
    readonly callId: string | undefined;
  },
): ObservedAccess {
  const code = err instanceof PlatformError ? err.code : "internal_error";
  const denied = err instanceof AccessDenied ? err : undefined;
  return {
    principal: denied?.principal ?? call.principal,
    action: invokeAction,
    resources: [resourceOf(call.ref)],
    by: undefined,
    reported: denied?.reported,
    status: statusOf(code),
    code,
    address: call.address,
    requestId: undefined,
    callId: call.callId,
  };
}
