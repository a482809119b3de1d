import type { AccessObserver } from "../access/access-observer.ts";
import type { Authenticator } from "../access/authenticator.ts";
import type { BasicAuth } from "../access/basic-auth.ts";
import type { SessionHolders } from "../access/sessions/session-holders.ts";
import type { SessionTable } from "../access/sessions/session-table.ts";
import type { ConsoleOrigins } from "./console-origins.ts";
import type { IssuerLogin } from "./login/issuer-login.ts";

/** What the console's listener knows its senders by. */
export interface ConsoleAccess {
  /** Known once it listens. */
  readonly origins: () => ConsoleOrigins;
  readonly sessions: SessionTable;
  readonly holders: SessionHolders;
  /** Of programs, as on `port`. */
  readonly authenticator: Authenticator;
  readonly auth: BasicAuth;
  /** Absent where there are no issuers. */
  readonly login: IssuerLogin | undefined;
  readonly observer: AccessObserver;
}
