import { isIP } from "node:net";
import { connect } from "node:tls";

import type { TlsRule } from "../../../http1/client/raw-connection.ts";
import { fingerprintOf, showsCertificate } from "./pinned-certificate.ts";

/** TLS towards a gateway: `certificate` (PEM) is the only one that is accepted; absent: any that is valid for the host. */
export function upstreamTls(certificate: string | Buffer | undefined): TlsRule {
  const fingerprint = certificate === undefined ? undefined : fingerprintOf(certificate);
  return {
    connect: (options) =>
      connect({
        ...options,
        ALPNProtocols: ["http/1.1"],
        ...(isIP(options.host) === 0 && { servername: options.host }),
        // The fingerprint is stricter than the checks that this disables.
        rejectUnauthorized: fingerprint === undefined,
      }),
    accepts: (socket) => fingerprint === undefined || showsCertificate(socket, fingerprint),
  };
}
