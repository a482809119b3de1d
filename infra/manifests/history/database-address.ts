import { parsePostgresAddress, type PostgresAddress } from "../../../runtime/api/database/postgres-address.ts";
import { credentialSettings } from "../../../runtime/settings/platform-settings.ts";

/** What the manifests need to know of the history's database; its address holds a password. */
export interface DatabaseFacts {
  /** Undefined while only other resources know its address. */
  readonly port: number | undefined;
}

/** Stands for the address of a database that is not known yet, or cannot be read. */
export const unreadDatabase = "postgres://unread.invalid/unread";

/** File of the certificate authority beside that of the address. */
export const databaseAuthorityFile = "history-database-ca.crt";

const form = 'an address such as "postgres://weir:password@db.example.com:5432/weir"';

/** What is known of a database by its address, or what was expected: the history would not start with another one. */
export function databaseFacts(given: string): DatabaseFacts | { readonly expected: string } {
  if (given === unreadDatabase) return { port: undefined };
  const address = parsedAddress(given);
  // A pod reaches neither a socket nor a loopback address of another one, which alone need no TLS.
  if (address === undefined || address.host.startsWith("/") || /[?&]host=/.test(given))
    return { expected: `${form}, with special characters as %40` };
  if (address.tls === undefined)
    return { expected: `${form} with TLS, as its password goes over the network: sslmode verify-full, or none` };
  return { port: address.port };
}

function parsedAddress(given: string): PostgresAddress | undefined {
  try {
    return parsePostgresAddress(given);
  } catch {
    return undefined;
  }
}

/** The address, with the authority that is mounted beside it, unless it names one. */
export function withAuthority(address: string): string {
  if (/[?&]sslrootcert=/.test(address)) return address;
  const path = `${credentialSettings.secretMountPath.fallback ?? ""}/${databaseAuthorityFile}`;
  return `${address}${address.includes("?") ? "&" : "?"}sslrootcert=${path}`;
}
