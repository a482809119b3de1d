import type { ErrorCode } from "../../api/platform-error.ts";
import { noGrants } from "../../core/access/grants.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { StatementOrigin } from "../access/access-observer.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who sent it, and what was decided about it. */
    access: RequestAccess;
  }
}

/** Who sends requests that need no credentials. */
const nobody: Principal = {
  via: "open",
  subject: "",
  issuer: undefined,
  claims: {},
  grants: noGrants,
  expiresAt: undefined,
};

/** Who sent a request, and what was decided about it. */
export class RequestAccess {
  /** The client's, seen through trusted proxies. */
  readonly address: string;
  /** Undefined until its credentials were checked. */
  sender: Principal | undefined;
  /** Finds out again who sends it, for what lasts; absent: that does not change. */
  renew: (() => Promise<Principal>) | undefined;
  /** What it concerns; empty before that was decided on. */
  resources: readonly string[] = [];
  /** The action, where the handler found out which of two it takes. */
  action: string | undefined;
  by: StatementOrigin | undefined;
  reported: StatementOrigin | undefined;
  /** Why it was refused. */
  refusal: ErrorCode | undefined;
  /** Whether its handler was reached. */
  handled = false;
  /** Whether the handler changed something, though its reply may be an error. */
  changed = false;

  constructor(address: string) {
    this.address = address;
  }

  get principal(): Principal {
    return this.sender ?? nobody;
  }
}
