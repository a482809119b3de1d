import type { FastifyReply, FastifyRequest } from "fastify";

import type { Authenticator } from "../access/authenticator.ts";
import { checkOrigin, checkFetchSite, type OriginRules } from "../access/check-origin.ts";
import type { RouteEntry } from "./route.ts";

/** How requests come in at one of the gateway's listeners. */
export interface Door {
  readonly routes: readonly RouteEntry[];
  /** Whether the rest of a path is for a function, which reads it as it is; absent: of none. */
  readonly passesOn?: (path: string) => boolean;
  /**
   * Before the route is looked at.
   * @throws PlatformError when the request is not for this listener
   */
  enter(request: FastifyRequest, reply: FastifyReply): void;
  /**
   * Finds out who sent a request to a route, and notes that in `request.access`.
   * @throws PlatformError when it is refused because of its sender
   */
  admit(request: FastifyRequest, reply: FastifyReply, entry: RouteEntry): Promise<void>;
}

/** The door of `port`: credentials where a route needs them, and no pages of other origins. */
export function publicDoor(routes: readonly RouteEntry[], authenticator: Authenticator, origins: OriginRules): Door {
  return {
    routes,
    enter: () => {},
    async admit({ access, headers, originalUrl }, _reply, { needs }) {
      if (needs === "nothing") return;
      const identify = () => authenticator.identify(headers.authorization, access.address);
      access.sender = await identify();
      access.renew = identify;
      checkOrigin(headers.origin, origins);
      if (originalUrl.startsWith("/system/")) checkFetchSite(headers["sec-fetch-site"], headers.origin, origins);
    },
  };
}
