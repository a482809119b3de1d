import type { FastifyRequest } from "fastify";

import { PlatformError } from "../../api/platform-error.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { AccessObserver } from "../access/access-observer.ts";
import { statusOf } from "../error-handler.ts";

/** Ids of operations, for the audit. */
type SignInAction = "signIn" | "finishLogin" | "signOut" | "backChannelLogout";

/** Lets someone sign in or out, and tells `observer` who did, or why nobody did. */
export async function observeSignIn(
  request: FastifyRequest,
  action: SignInAction,
  observer: AccessObserver,
  act: () => Promise<{ readonly principal: Principal | undefined; readonly status: number }>,
): Promise<void> {
  const facts = {
    action,
    resources: [],
    by: undefined,
    reported: undefined,
    address: request.access.address,
    requestId: request.id,
    callId: undefined,
  } as const;
  try {
    const { principal, status } = await act();
    if (principal !== undefined) observer.changed({ ...facts, principal, status, code: undefined });
  } catch (err) {
    if (err instanceof PlatformError && statusOf(err.code) < 500) {
      observer.refused({ ...facts, principal: undefined, status: statusOf(err.code), code: err.code });
    }
    throw err;
  }
}
