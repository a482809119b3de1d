import { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";

import { buildConnector } from "undici";

/**
 * Connects only to a server that shows exactly this certificate (PEM), whoever issued it and for whatever name: for
 * talking to ourselves, where the address is loopback and the certificate is for the name outside.
 */
export function pinnedConnector(certificate: string | Buffer, timeout: number): buildConnector.connector {
  const { fingerprint256 } = new X509Certificate(certificate);
  // The fingerprint below is stricter than the checks that this switches off.
  const connect = buildConnector({ timeout, allowH2: false, rejectUnauthorized: false });
  return (options, callback) => {
    connect(options, (...[err, socket]) => {
      if (err !== null) return callback(err, null);
      if (socket instanceof TLSSocket && socket.getPeerCertificate().fingerprint256 === fingerprint256)
        return callback(null, socket);
      socket.destroy();
      return callback(new Error("the gateway's address is answered by another server"), null);
    });
  };
}
