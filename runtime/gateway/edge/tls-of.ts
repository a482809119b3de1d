import { readFileSync } from "node:fs";

import type { GatewaySettings } from "../settings.ts";

/** Certificate and key, read from the files of the settings, and what browsers are told of TLS; empty without them. */
export function tlsOf({ tlsCert, tlsKey, hstsMaxAge }: GatewaySettings) {
  return tlsCert === undefined || tlsKey === undefined
    ? {}
    : {
        tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) },
        ...(hstsMaxAge === 0 ? {} : { hsts: `max-age=${Math.ceil(hstsMaxAge / 1_000)}` }),
      };
}
