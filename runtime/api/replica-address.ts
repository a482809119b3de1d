/** How the address of a replica begins that listens on a Unix socket; what follows is its path. */
const unixPrefix = "unix:";

/** The address of a replica that listens on a Unix socket, in place of `host:port`. */
export function unixAddress(path: string): string {
  return unixPrefix + path;
}

/** The path of the Unix socket at which a replica listens; undefined for one with a port. */
export function socketPathOf(address: string): string | undefined {
  return address.startsWith(`${unixPrefix}/`) ? address.slice(unixPrefix.length) : undefined;
}

/** The authority of requests to a replica that listens on a Unix socket. */
export const unixAuthority = "localhost";
