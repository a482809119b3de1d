/** An origin that the console is opened under. */
export interface ConsoleOrigin {
  /** As browsers write it. */
  readonly origin: string;
  readonly isSecure: boolean;
}

/** The origins of the console, found by what a request says. */
export interface ConsoleOrigins {
  /** The origin that `Host` stands for; undefined when it is none of the console's. */
  ofHost(host: string | undefined): ConsoleOrigin | undefined;
  has(origin: string): boolean;
}

const defaultPorts: Readonly<Record<string, string>> = { "http:": ":80", "https:": ":443" };

/** The origins of `texts`; where two have the same host, the first one counts. */
export function consoleOrigins(texts: readonly string[]): ConsoleOrigins {
  const byHost = new Map<string, ConsoleOrigin>();
  const all = new Set<string>();
  for (const text of texts) {
    const url = new URL(text);
    const found: ConsoleOrigin = { origin: url.origin, isSecure: url.protocol === "https:" };
    all.add(url.origin);
    const hosts = url.port === "" ? [url.host, `${url.host}${defaultPorts[url.protocol] ?? ""}`] : [url.host];
    for (const host of hosts) if (!byHost.has(host)) byHost.set(host, found);
  }
  return {
    ofHost: (host) => (host === undefined ? undefined : byHost.get(host.toLowerCase())),
    has: (origin) => all.has(origin.toLowerCase()),
  };
}
