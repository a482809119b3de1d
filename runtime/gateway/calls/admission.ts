import { PlatformError } from "../../api/platform-error.ts";
import type { Principal } from "../../core/access/principal.ts";
import { limitsIn } from "../../core/functions/function-facts.ts";
import type { FunctionLimits } from "../../core/functions/function-limits.ts";
import { functionNotFound } from "../../core/functions/function-not-found.ts";
import { formatRef, type FunctionRef } from "../../core/functions/function-ref.ts";
import type { FunctionTable, TableEntry } from "../../core/replicas/function-table.ts";
import { AccessDenied, nameOf, requireAccess } from "../access/access-denied.ts";
import type { AccessObserver } from "../access/access-observer.ts";
import { invokeAction, resourceOf, type CallCredentials } from "../access/function-callers.ts";
import { principalHeaders } from "../access/principal-headers.ts";
import { refusedCall } from "../access/refused-call.ts";
import type { OwnToken } from "../access/tokens/token-reader.ts";
import type { RequestHead } from "./request-head.ts";
import { splitTarget, type SplitTarget } from "./split-target.ts";

/** What admission depends on. */
export interface AdmissionParts {
  readonly table: FunctionTable;
  /** Whether every function needs credentials (`invoke_auth`). */
  readonly invokeAuth: boolean;
  /**
   * The valid token of this platform that the credentials hold; a promise unless it was verified before. Absent: tokens
   * count for nothing.
   */
  readonly readToken?: (authorization: string | undefined) => OwnToken | undefined | Promise<OwnToken | undefined>;
  /**
   * Returns who calls a protected function, or nothing where callers are not asked. Throws a PlatformError unless the
   * credentials allow it.
   */
  readonly authorise: (credentials: CallCredentials, ref: FunctionRef) => Principal | void;
  /** The client behind trusted proxies. */
  readonly clientOf: (peer: string | undefined, forwardedFor: string | undefined) => string;
  /** Whether the value holds the platform's own credentials, which no function may see. */
  readonly isPlatformCredential: (authorization: string) => boolean;
  /** Told of refused calls. */
  readonly accessObserver?: AccessObserver;
}

/** The parsed target of a call, and the function if it exists. */
export interface NamedFunction {
  readonly prefix: string;
  readonly target: SplitTarget | undefined;
  readonly entry: TableEntry | undefined;
}

/** A call that passed all checks. */
export interface AdmittedCall {
  readonly target: SplitTarget;
  readonly entry: TableEntry;
  readonly limits: FunctionLimits;
  /** The caller's credentials as passed on to the function. */
  readonly authorization: string | undefined;
  /** Who calls a protected function; undefined if the function does not ask, or callers do not identify themselves. */
  readonly principal: Principal | undefined;
  /** The headers that tell the function who calls it, flat. */
  readonly principalHeaders: readonly string[];
}

/** The caller, as far as the connection identifies it. */
interface Caller {
  readonly url?: string | undefined;
  readonly remoteAddress: string;
}

type Credentials = Pick<RequestHead, "authorization" | "forwardedFor" | "fromWorker">;

/** The valid token of a caller, if they sent one. */
type Token = OwnToken | undefined;

const nobody: readonly string[] = [];

/** Admits synchronous and queued calls: the function must exist, and the caller be allowed to call it. */
export class Admission {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  find({ url = "" }: Pick<Caller, "url">, prefix: string): NamedFunction {
    const target = splitTarget(url, prefix);
    return { prefix, target, entry: target === undefined ? undefined : this.#parts.table.findKey(target.key) };
  }

  /**
   * Admits a call at once, unless its token was not verified before.
   * @throws PlatformError for the first check that fails; a promise rejects with it
   */
  admit(
    { prefix, target, entry }: NamedFunction,
    caller: Caller,
    credentials: Credentials,
    callId?: string,
  ): AdmittedCall | Promise<AdmittedCall> {
    if (target === undefined || entry === undefined) throw notFound(caller, prefix);
    const limits = limitsIn(entry.facts);
    const { authorization, fromWorker } = credentials;
    // A queued call was authorised when it was accepted.
    if (fromWorker || !this.#isProtected(limits)) {
      const passedOn = this.#passedOn(authorization);
      return { target, entry, limits, authorization: passedOn, principal: undefined, principalHeaders: nobody };
    }
    const { ref } = entry;
    const admitted = (token: Token): AdmittedCall => {
      const asked = { ref, caller, credentials, token, callId };
      const [principal, headers] = this.#authorise(asked, limits.authClaims);
      return { target, entry, limits, authorization: undefined, principal, principalHeaders: headers };
    };
    const token = this.#parts.readToken?.(authorization);
    return token instanceof Promise ? token.then(admitted) : admitted(token);
  }

  /**
   * Admits a call that its sender queues through the API: by what it may do, and with these credentials for the function.
   * @throws PlatformError for the first check that fails
   */
  admitSender(ref: FunctionRef, principal: Principal, authorization: string | undefined): Omit<AdmittedCall, "target"> {
    const entry = this.#parts.table.findKey(formatRef(ref));
    if (entry === undefined) throw functionNotFound(ref);
    const limits = limitsIn(entry.facts);
    if (!this.#isProtected(limits)) {
      const passedOn = this.#passedOn(authorization);
      return { entry, limits, authorization: passedOn, principal: undefined, principalHeaders: nobody };
    }
    requireAccess(principal, { action: invokeAction, resource: resourceOf(ref) });
    const headers = principalHeaders(principal, limits.authClaims, ref);
    return { entry, limits, authorization: undefined, principal, principalHeaders: headers };
  }

  /** The valid token of whoever asks for a call's record. */
  async readToken({ authorization }: Credentials): Promise<Token> {
    return this.#parts.readToken?.(authorization);
  }

  /**
   * A caller that may call a function may also view and cancel its calls, even after the function was deleted. `token`
   * is what `readToken` returned.
   * @throws PlatformError when the caller may not
   */
  checkCaller(ref: FunctionRef, caller: Caller, credentials: Credentials, token: Token, callId: string): void {
    const entry = this.#parts.table.findKey(formatRef(ref));
    if (!this.#isProtected(entry === undefined ? undefined : limitsIn(entry.facts))) return;
    try {
      this.#authorise({ ref, caller, credentials, token, callId }, undefined);
    } catch (err) {
      // Whoever knows an id is not told whose call it is.
      if (!(err instanceof AccessDenied)) throw err;
      const who = nameOf(err.principal);
      throw new PlatformError("forbidden", `Cannot access call "${callId}": ${who} may not call its function`);
    }
  }

  #passedOn(authorization: string | undefined): string | undefined {
    return authorization !== undefined && this.#parts.isPlatformCredential(authorization) ? undefined : authorization;
  }

  #isProtected(limits: FunctionLimits | undefined): boolean {
    return this.#parts.invokeAuth || limits?.authRequired === true;
  }

  #authorise(asked: Asked, claims: readonly string[] | undefined): [Principal | undefined, readonly string[]] {
    const { ref, token } = asked;
    const { authorization, forwardedFor } = asked.credentials;
    const { clientOf } = this.#parts;
    const credentials = {
      authorization,
      token,
      caller: asked.caller,
      // Few calls need it, and parsing an address costs more than the rest.
      get client(): string {
        return clientOf(asked.caller.remoteAddress, forwardedFor);
      },
    };
    let principal: Principal | undefined;
    try {
      principal = this.#parts.authorise(credentials, ref) ?? undefined;
      return [principal, principal === undefined ? nobody : principalHeaders(principal, claims, ref)];
    } catch (err) {
      this.#parts.accessObserver?.refused(
        refusedCall(err, { principal, ref, address: credentials.client, callId: asked.callId }),
      );
      throw err;
    }
  }
}

/** A call, or a request about one, of a protected function. */
interface Asked {
  readonly ref: FunctionRef;
  readonly caller: Caller;
  readonly credentials: Credentials;
  readonly token: Token;
  readonly callId: string | undefined;
}

function notFound({ url = "" }: Caller, prefix: string): PlatformError {
  const named = url.slice(prefix.length).split(/[/?]/, 1)[0] ?? "";
  return new PlatformError("function_not_found", `Cannot call function "${named.slice(0, 127)}": it does not exist`);
}
