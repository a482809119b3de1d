import { isLoopbackAddress } from "../gateways/gateway-address.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy that requests go through. */
export interface ChosenProxy {
  readonly url: URL;
  /** The variable that names it. */
  readonly variable: string;
}

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/**
 * The proxy for `address`, as the HTTP client chooses it: by `HTTPS_PROXY` or `HTTP_PROXY`, in small letters first,
 * unless `NO_PROXY` has the host; never for this machine. Undefined: there is none.
 */
export function proxyFor(address: string, environment: Environment): ChosenProxy | undefined {
  const url = new URL(address);
  if (isLoopbackAddress(address) || isExcepted(url, environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""))
    return undefined;
  const http = firstOf(environment, ["http_proxy", "HTTP_PROXY"]);
  return url.protocol === "https:" ? (firstOf(environment, ["https_proxy", "HTTPS_PROXY"]) ?? http) : http;
}

function firstOf(environment: Environment, variables: readonly string[]): ChosenProxy | undefined {
  const variable = variables.find((name) => environment[name] !== undefined);
  const text = variable === undefined ? "" : (environment[variable] ?? "");
  return variable === undefined || !URL.canParse(text) ? undefined : { url: new URL(text), variable };
}

/** Whether an entry of `NO_PROXY` is the host, or a domain above it; with a port it means that port alone. */
function isExcepted({ hostname, port, protocol }: URL, list: string): boolean {
  const host = unbracketed(hostname).toLowerCase().replace(/\.$/, "");
  const at = port === "" ? defaultPorts[protocol] : port;
  return list.split(/[,\s]+/).some((entry) => {
    const [, name = "", onPort] = /^(\[.+\]|[^:]+|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
    if (name === "" || (onPort !== undefined && onPort !== at)) return false;
    if (name === "*") return true;
    const domain = unbracketed(name)
      .replace(/^\*?\./, "")
      .replace(/\.$/, "")
      .toLowerCase();
    return (host === domain && !name.startsWith("*")) || host.endsWith(`.${domain}`);
  });
}

/** An IPv6 address without the brackets that it has in a URL; other hosts as they are. */
export function unbracketed(host: string): string {
  return host.replace(/^\[(.+)\]$/, "$1");
}
