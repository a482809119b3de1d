import { readFileSync } from "node:fs";

import type { GatewaySettings } from "../settings.ts";

/** Certificate and key, read from the files of the settings; empty without them. */
export function tlsOf({ tlsCert, tlsKey }: GatewaySettings) {
  return tlsCert === undefined || tlsKey === undefined
    ? {}
    : { tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) } };
}
