import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

import { buildConnector } from "undici";

/** SHA-256 of a certificate (PEM), as `getPeerCertificate` writes it. */
export function fingerprintOf(certificate: string | Buffer): string {
  return new X509Certificate(certificate).fingerprint256;
}

/** Whether the server on the other side shows exactly that certificate; to be asked after the handshake. */
export function showsCertificate(socket: Socket, fingerprint: string): boolean {
  return socket instanceof TLSSocket && socket.getPeerCertificate().fingerprint256 === fingerprint;
}

/**
 * Connects only to a server that shows exactly this certificate (PEM), whoever issued it and for whatever name: for
 * talking to ourselves, where the address is loopback and the certificate is for the name outside.
 */
export function pinnedConnector(certificate: string | Buffer, timeout: number): buildConnector.connector {
  const fingerprint = fingerprintOf(certificate);
  // The fingerprint below is stricter than the checks that this switches off.
  const connect = buildConnector({ timeout, allowH2: false, rejectUnauthorized: false });
  return (options, callback) => {
    connect(options, (...[err, socket]) => {
      if (err !== null) return callback(err, null);
      if (showsCertificate(socket, fingerprint)) return callback(null, socket);
      socket.destroy();
      return callback(new Error("the gateway's address is answered by another server"), null);
    });
  };
}
