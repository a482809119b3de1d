import { administrator, type Principal } from "../../core/access/principal.ts";
import type { BasicAuth } from "./basic-auth.ts";
import { bearerToken, type TokenHolders } from "./token-holders.ts";

/** Finds out who sent a request to `/system`. */
export interface Authenticator {
  /**
   * `address` is the client's; wrong passwords are counted by it, wrong tokens are not.
   * @throws PlatformError `credentials_required`, `credentials_invalid`, `too_many_logins`
   */
  identify(authorization: string | undefined, address: string): Promise<Principal>;
}

/** Admits the administrator and, with `holders`, those of API tokens. */
export function createAuthenticator(basic: BasicAuth, holders: TokenHolders | undefined): Authenticator {
  const unnamed = administrator(basic.via);
  return {
    async identify(authorization, address) {
      const token = holders === undefined ? undefined : bearerToken(authorization);
      if (holders === undefined || token === undefined) {
        basic.check(authorization, address);
        return unnamed;
      }
      const own = await holders.read(token);
      if (own?.kind === "api") return holders.holderOf(own);
      basic.refuse();
      return unnamed;
    },
  };
}
