/** Whether a listener on loopback answers a request with this value of `Host`. */
export type AnswersHost = (host: string) => boolean;

/**
 * What listeners on loopback answer to: names of this machine, and `names`, of which `*.example.com` stands for all
 * below it. A page that made its own name point to 127.0.0.1 (DNS rebinding) would be of the same origin as what it
 * reads there, so that a browser keeps nothing from it; only `Host` tells.
 *
 * A name without a dot passes: public DNS has none, while the names of containers and of a hosts file often are.
 */
export function answeredHosts(names: readonly string[]): AnswersHost {
  const exact = new Set(names.filter((name) => !name.startsWith("*.")));
  const suffixes = names.filter((name) => name.startsWith("*.")).map((name) => name.slice(1));
  return (host) => {
    const name = hostnameOf(host);
    return (
      /^[-a-z0-9_]*$/.test(name) ||
      name.endsWith(".localhost") ||
      /^127(?:\.\d{1,3}){1,3}$/.test(name) ||
      name === "::1" ||
      exact.has(name) ||
      suffixes.some((suffix) => name.endsWith(suffix))
    );
  };
}

/** The host names of web addresses. */
export function hostsOf(urls: readonly (string | undefined)[]): string[] {
  return urls.flatMap((url) => {
    const host = URL.parse(url ?? "")?.hostname ?? "";
    return host === "" ? [] : [hostnameOf(host)];
  });
}

/** Why a request is refused whose `Host` a listener does not answer to; `quoted` names it. */
export function unansweredHost(quoted: string): string {
  return `Cannot answer for host ${quoted}: this port answers to localhost only; add other names to allowed_hosts`;
}

/** Whether a server that listens at `address` is reached from its own machine only. */
export function isLoopbackListener(address: string): boolean {
  return address.startsWith("127.") || address === "::1" || address.startsWith("::ffff:127.");
}

/** In lower case, without port, brackets and the dot of the root. */
function hostnameOf(host: string): string {
  const bare = host.startsWith("[") ? host.slice(1).replace(/\](?::\d*)?$/, "") : host.replace(/:\d*$/, "");
  return bare.toLowerCase().replace(/\.$/, "");
}
