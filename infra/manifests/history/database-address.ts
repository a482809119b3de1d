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

/** Port of PostgreSQL where its address names none. */
const postgresPort = 5_432;
/** Those that the history reads. */
const parameters = ["sslmode", "sslrootcert", "sslcert", "sslkey", "channel_binding"];
const encrypted = ["prefer", "require", "verify-ca", "verify-full"];
const form = 'an address such as "postgres://weir:password@db.example.com:5432/weir"';

/** What is known of a database by its address, or what was expected: the history would not start with another one. */
export function databaseFacts(given: string): DatabaseFacts | { readonly expected: string } {
  if (given === unreadDatabase) return { port: undefined };
  const url = /^postgres(?:ql)?:\/\//.test(given) ? URL.parse(given) : null;
  const isWhole = url !== null && /^[^\s,]+$/.test(url.hostname) && url.username !== "" && url.hash === "";
  if (!isWhole || !isDecodable(given)) return { expected: `${form}, with special characters as %40` };
  const others = [...url.searchParams.keys()].filter((name) => !parameters.includes(name));
  if (others.length > 0) return { expected: `${form}, with no other parameters than ${parameters.join(", ")}` };
  const mode = url.searchParams.get("sslmode");
  if (mode !== null && !encrypted.includes(mode))
    return { expected: `${form} with TLS, as its password goes over the network: sslmode verify-full, or none` };
  return { port: Number(url.port || postgresPort) };
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}

/** The address, with the authority that is mounted beside it, unless it names one. */
export function withAuthority(address: string): string {
  if (/[?&]sslrootcert=/.test(address)) return address;
  const path = `${credentialSettings.secretMountPath.fallback ?? ""}/${databaseAuthorityFile}`;
  return `${address}${address.includes("?") ? "&" : "?"}sslrootcert=${path}`;
}
