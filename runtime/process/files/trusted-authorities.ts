import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

type Read = { readonly certificates: readonly string[] } | { readonly problem: string };

const pem = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The file of authorities can be read and holds certificates. */
export const trustedAuthoritiesRule = {
  needs: ["trustedAuthorities"],
  sentence: "`trusted_authorities` is a PEM file of certificates.",
  problems: ({ trustedAuthorities: file }: { readonly trustedAuthorities: string | undefined }): readonly string[] => {
    const read = file === undefined ? undefined : readAuthorities(file);
    return read !== undefined && "problem" in read ? [`trusted_authorities: ${read.problem}`] : [];
  },
} as const;

/** Trusts the authorities of a file in all connections from now on, beside those that Node.js knows. */
export function trustAuthorities(file: string): void {
  const read = readAuthorities(file);
  if ("problem" in read) throw new Error(`Cannot trust the authorities of a file: ${read.problem}`);
  setDefaultCACertificates([...getCACertificates("default"), ...read.certificates]);
}

function readAuthorities(file: string): Read {
  try {
    const certificates = readFileSync(file, "utf8").match(pem) ?? [];
    if (certificates.length === 0) return { problem: `expected PEM certificates, got none in "${file}"` };
    for (const certificate of certificates) void new X509Certificate(certificate);
    return { certificates };
  } catch (err) {
    const reason = err instanceof Error ? ("code" in err ? String(err.code) : err.message) : String(err);
    return { problem: `expected a PEM file of certificates, got "${file}" (${reason})` };
  }
}
