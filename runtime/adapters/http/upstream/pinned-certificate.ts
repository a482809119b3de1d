import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

import { buildConnector } from "undici";

/** SHA-256 of a certificate (PEM), in the format of `getPeerCertificate`. */
export function fingerprintOf(certificate: string | Buffer): string {
  return new X509Certificate(certificate).fingerprint256;
}

/** Whether the server presented exactly that certificate; call it after the handshake. */
export function showsCertificate(socket: Socket, fingerprint: string): boolean {
  return socket instanceof TLSSocket && socket.getPeerCertificate().fingerprint256 === fingerprint;
}

/**
 * Connects only to a server that presents exactly this certificate (PEM), regardless of its issuer and name: for
 * connections to our own gateway, whose address is loopback while its certificate is for the public name.
 */
export function pinnedConnector(certificate: string | Buffer, timeout: number): buildConnector.connector {
  const fingerprint = fingerprintOf(certificate);
  // The fingerprint below is stricter than the checks that this disables.
  const connect = buildConnector({ timeout, allowH2: false, rejectUnauthorized: false });
  return (options, callback) => {
    connect(options, (...[err, socket]) => {
      if (err !== null) return callback(err, null);
      if (showsCertificate(socket, fingerprint)) return callback(null, socket);
      socket.destroy();
      return callback(new Error("another server listens at the gateway's address"), null);
    });
  };
}
