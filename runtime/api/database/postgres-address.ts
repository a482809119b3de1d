/** Where a database is, and as whom it is used. */
export interface PostgresAddress {
  /** A name, an address, or the directory of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** A function, so that no log of this object shows it. */
  readonly password: () => string;
  /** Undefined = no TLS; else the server's certificate is always verified. */
  readonly tls: PostgresTls | undefined;
}

/** Paths of PEM files; all absent = the authorities that Node.js knows. */
export interface PostgresTls {
  readonly rootCertificate?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly channelBinding: boolean;
}

const parameters = ["host", "sslmode", "sslrootcert", "sslcert", "sslkey", "channel_binding"];
const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
const form = "postgres://user:password@host:port/database";

/**
 * Parses a connection URI as libpq has it, but for TLS, which is verified in each mode and can be off on this machine
 * alone.
 * @throws Error whose sentence shows nothing of the URI: where it is malformed, any part may be of the password
 */
export function parsePostgresAddress(uri: string): PostgresAddress {
  const { url, isNoHost } = urlOf(uri.trim());
  const query = url.searchParams;
  if ([...query.keys()].some((name) => !parameters.includes(name)))
    throw wrong(`it has a parameter that is none of ${parameters.join(", ")}`);
  if (url.hash !== "") throw wrong('it has a "#", which has to be written as %23');
  const host = query.get("host") ?? (isNoHost ? "" : decoded(url.hostname).replace(/^\[(.*)\]$/, "$1"));
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (host === "") throw wrong(`it names no host; its form is ${form}`);
  if (user === "") throw wrong(`it names no user; its form is ${form}`);
  const database = decoded(url.pathname.slice(1)) || user;
  if (database.includes("/")) throw wrong(`the name of its database has a "/"; its form is ${form}`);
  const port = url.port === "" ? 5_432 : Number(url.port);
  return { host, port, user, database, password: () => password, tls: tlsOf(query, host) };
}

/** How a place is named in sentences. */
export function postgresPlace({ host, port }: PostgresAddress): string {
  if (host.startsWith("/")) return host;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function urlOf(text: string): { readonly url: URL; readonly isNoHost: boolean } {
  if (text === "") throw wrong(`it is empty; its form is ${form}`);
  if (!/^postgres(?:ql)?:\/\//.test(text)) throw wrong(`its form is not ${form}`);
  const whole = URL.parse(text);
  if (whole !== null) return { url: whole, isNoHost: false };
  // A user without a host: libpq takes that, with the directory of a socket as a parameter.
  const filled = URL.parse(text.replace(/@(?=[:/?]|$)/, "@none"));
  if (filled === null) throw wrong(`its form is not ${form}, with special characters as %40`);
  return { url: filled, isNoHost: true };
}

function tlsOf(query: URLSearchParams, host: string): PostgresTls | undefined {
  const mode = query.get("sslmode");
  if (mode !== null && !sslModes.includes(mode)) throw wrong(`its sslmode is none of ${sslModes.join(", ")}`);
  if (host.startsWith("/")) return undefined;
  const isOff = mode === "disable" || mode === "allow";
  if (isLoopback(host) && (isOff || mode === null || mode === "prefer")) return undefined;
  if (isOff) throw wrong(`its sslmode is ${mode}, and only on this machine TLS may be off; take verify-full`);
  const [root, certificate, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) => query.get(name));
  if ((certificate === null) !== (key === null)) throw wrong("sslcert and sslkey need each other");
  return {
    ...(typeof root === "string" && root !== "system" ? { rootCertificate: root } : {}),
    ...(typeof certificate === "string" ? { certificate } : {}),
    ...(typeof key === "string" ? { key } : {}),
    channelBinding: query.get("channel_binding") !== "disable",
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('it has a "%" that begins no character, which has to be written as %25');
  }
}

function wrong(problem: string): Error {
  return new Error(`Cannot read the address of the database: ${problem}`);
}
