/** Where a container engine listens by default. */
export const engineSocket = "/var/run/docker.sock";

/** The accepted forms of an engine's address, in words. */
export const expectedEngine = `a path, unix:// and a path such as unix://${engineSocket}, or tcp://host:port`;

/**
 * The address of a container engine: the path of its Unix socket, given as a path or as a `unix://` URL, or
 * `tcp://host:port`; undefined for any other.
 */
export function parseEngineAddress(address: string): string | undefined {
  const path = address.replace(/^unix:\/\//, "");
  if (path.startsWith("/")) return path;
  const [, host, port] = /^tcp:\/\/([\w.-]+|\[[0-9a-f:.]+\]):(\d{1,5})\/?$/i.exec(address) ?? [];
  return host === undefined || Number(port) < 1 || Number(port) > 65_535 ? undefined : `tcp://${host}:${port}`;
}
