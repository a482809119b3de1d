/** Where a container engine listens that was not told otherwise. */
export const engineSocket = "/var/run/docker.sock";

/** The path of a Unix socket, given as a path or as a `unix://` URL; undefined for any other address. */
export function parseUnixSocket(address: string): string | undefined {
  const path = address.replace(/^unix:\/\//, "");
  return path.startsWith("/") ? path : undefined;
}
