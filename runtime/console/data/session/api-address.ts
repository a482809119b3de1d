/** Port of the API where none is known. */
const usualPort = "8080";

/** Where programs reach the gateway whose console a page at `location` is of. */
export function apiAddress({ protocol, hostname }: Pick<Location, "protocol" | "hostname">): string {
  return protocol === "https:" ? `https://${hostname}` : `http://${hostname}:${usualPort}`;
}
