import { PlatformError } from "../../api/platform-error.ts";
import { limitsIn } from "../../core/functions/function-facts.ts";
import type { FunctionLimits } from "../../core/functions/function-limits.ts";
import type { FunctionTable, TableEntry } from "../../core/replicas/function-table.ts";
import type { RequestHead } from "./request-head.ts";
import { splitTarget, type SplitTarget } from "./split-target.ts";

/** What admission depends on. */
export interface AdmissionParts {
  readonly table: FunctionTable;
  /** Whether every function needs credentials (`invoke_auth`). */
  readonly invokeAuth: boolean;
  /**
   * Throws a PlatformError unless the credentials allow calls of protected functions; `client` is the sender's address.
   */
  readonly authorise: (authorization: string | undefined, client: string) => void;
  /** The client behind trusted proxies. */
  readonly clientOf: (peer: string | undefined, forwardedFor: string | undefined) => string;
  /** Whether the value holds the platform's own credentials, which no function may see. */
  readonly isPlatformCredential: (authorization: string) => boolean;
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
}

/** The caller, as far as the connection identifies it. */
interface Caller {
  readonly url?: string | undefined;
  readonly remoteAddress: string;
}

type Credentials = Pick<RequestHead, "authorization" | "forwardedFor" | "fromWorker">;

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

  /** @throws PlatformError for the first check that fails */
  admit({ prefix, target, entry }: NamedFunction, caller: Caller, credentials: Credentials): AdmittedCall {
    if (target === undefined || entry === undefined) throw notFound(caller, prefix);
    const limits = limitsIn(entry.facts);
    return { target, entry, limits, authorization: this.#passedOn(limits, caller, credentials) };
  }

  /**
   * A caller that may call a function may also view and cancel its calls, even after the function was deleted.
   * @throws PlatformError when the caller may not
   */
  checkCaller(key: string, caller: Caller, credentials: Credentials): void {
    const entry = this.#parts.table.findKey(key);
    if (this.#isProtected(entry === undefined ? undefined : limitsIn(entry.facts))) {
      this.#authorise(caller, credentials);
    }
  }

  #passedOn(limits: FunctionLimits, caller: Caller, credentials: Credentials): string | undefined {
    const { authorization, fromWorker } = credentials;
    // A queued call was authorised when it was accepted.
    if (!fromWorker && this.#isProtected(limits)) {
      this.#authorise(caller, credentials);
      return undefined;
    }
    return authorization !== undefined && this.#parts.isPlatformCredential(authorization) ? undefined : authorization;
  }

  #isProtected(limits: FunctionLimits | undefined): boolean {
    return this.#parts.invokeAuth || limits?.authRequired === true;
  }

  #authorise({ remoteAddress }: Caller, { authorization, forwardedFor }: Credentials): void {
    this.#parts.authorise(authorization, this.#parts.clientOf(remoteAddress, forwardedFor));
  }
}

function notFound({ url = "" }: Caller, prefix: string): PlatformError {
  const named = url.slice(prefix.length).split(/[/?]/, 1)[0] ?? "";
  return new PlatformError("function_not_found", `Cannot call function "${named.slice(0, 127)}": it does not exist`);
}
