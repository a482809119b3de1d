import { functionScopeIn, withinScope } from "../../core/access/tokens/function-scope.ts";
import { administrator, type Principal } from "../../core/access/principal.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import { AccessDenied, nameOf, requireAccess } from "./access-denied.ts";
import type { BasicAuth } from "./basic-auth.ts";
import { bearerToken, type TokenHolders } from "./token-holders.ts";
import type { OwnToken } from "./tokens/token-reader.ts";

/** The action of calls of functions that ask for a caller. */
export const invokeAction = "Function:Invoke";

/** The action of seeing that a function is there. */
export const listAction = "Function:List";

/** The credentials of a call. */
export interface CallCredentials {
  readonly authorization: string | undefined;
  /** The token in them, if they hold a valid one of this platform. */
  readonly token: OwnToken | undefined;
  /** The request itself, for whom its sender is known otherwise. */
  readonly caller?: object;
  /** Address of the client; read only where passwords are counted by it. */
  readonly client: string;
}

/** Decides who may call functions that ask for a caller (contract §1.2). */
export class FunctionCallers {
  readonly #basic: BasicAuth;
  readonly #holders: TokenHolders | undefined;
  readonly #administrator: Principal;
  /**
   * The function that a holder was last allowed to call. A principal is that of one token under one version of the
   * rules: when either ends, it is not asked about any more.
   */
  readonly #allowed = new WeakMap<Principal, FunctionRef>();

  /** Without `holders` tokens count for nothing. */
  constructor(basic: BasicAuth, holders: TokenHolders | undefined) {
    this.#basic = basic;
    this.#holders = holders;
    this.#administrator = administrator(basic.via);
  }

  /** The valid token that the header holds; a promise unless it was verified before. */
  readToken(authorization: string | undefined): OwnToken | undefined | Promise<OwnToken | undefined> {
    const token = this.#holders === undefined ? undefined : bearerToken(authorization);
    return token === undefined ? undefined : this.#holders?.read(token);
  }

  /**
   * Who calls a function, if they may.
   * @throws PlatformError `credentials_required`, `credentials_invalid`, `forbidden`
   */
  authorise(credentials: CallCredentials, ref: FunctionRef): Principal {
    const { authorization, token } = credentials;
    if (token !== undefined && this.#holders !== undefined) {
      const holder = this.#holders.holderOf(token);
      if (this.#allowed.get(holder) === ref) return holder;
      requireInvoke(holder, token, ref);
      this.#allowed.set(holder, ref);
      return holder;
    }
    // Tokens cannot be guessed one by one as passwords can: wrong ones are not counted.
    if (this.#holders !== undefined && bearerToken(authorization) !== undefined) this.#basic.refuse();
    else this.#basic.checkCall(authorization, credentials.client);
    return this.#administrator;
  }
}

/** The resource of a function, in policies and tokens. */
export function resourceOf({ namespace, name }: FunctionRef): string {
  return `${namespace}:${name}`;
}

/** @throws AccessDenied */
function requireInvoke(principal: Principal, token: OwnToken, ref: FunctionRef): void {
  const request = { action: invokeAction, resource: resourceOf(ref) };
  if (token.kind === "function") {
    const scope = functionScopeIn(token.claims);
    if (scope === undefined || !withinScope(scope, request.resource)) {
      const because = `the function token of ${nameOf(principal)} is not good for ${request.resource}`;
      throw new AccessDenied(principal, request, undefined, because);
    }
  }
  requireAccess(principal, request);
}
