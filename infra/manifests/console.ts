import { ingressProblems } from "./option-rules.ts";
import type { Platform } from "./platform.ts";

/**
 * Its own Service: all ports of a Service are open to clients of its load balancer, and sessions are for the origins of
 * the console alone.
 */
export const consoleService = "gateway-console";

/** Port of the console when only its host is given. */
const defaultPort = 8_081;

/** The settings of gateways that follow from the options of the console; without any there is none. */
export function consoleFacts({ port, host, origins }: Platform["console"]) {
  return {
    consolePort: port === 0 && host !== undefined ? defaultPort : port,
    consoleOrigins: origins.length === 0 && host !== undefined ? [`https://${host}`] : origins,
  };
}

/** Where browsers open the console; undefined = there is none. */
export function consoleUrlOf(facts: { readonly consolePort: number; readonly consoleOrigins: readonly string[] }) {
  const [origin] = facts.consoleOrigins;
  return facts.consolePort === 0 || origin === undefined ? undefined : `${origin}/ui/`;
}

/** Problems across the options of the console and those of the gateway; each names key, value and rule. */
export function consoleRules(
  options: Pick<Platform, "console" | "ingress" | "httpRoute" | "publicUrl">,
): readonly string[] {
  const { console: own, ingress, httpRoute, publicUrl } = options;
  const { host, port, origins } = own;
  const problems = ingressProblems("console", own);
  if (host === undefined) {
    if (port === 0 && origins.length > 0)
      problems.push(`console.origins: expected console.host or console.port with it, got "${origins.join(",")}" alone`);
    return problems;
  }
  if (origins.length > 0 && !origins.some((origin) => isAt(origin, host)))
    problems.push(`console.origins: expected "https://${host}" of console.host in it, got "${origins.join(",")}"`);
  if (origins.length === 0 && own.tlsSecret === undefined && own.clusterIssuer === undefined)
    problems.push(
      `console.host: expected console.tlsSecret or console.clusterIssuer with it, or console.origins: https://… where TLS ends in front of it, as a session needs https; got "${host}" alone`,
    );
  const hostsOfFunctions = [ingress.host, httpRoute.host, publicUrl && URL.parse(publicUrl)?.hostname];
  if (hostsOfFunctions.includes(host))
    problems.push(
      `console.host: expected another host than that of functions, whose pages it would admit, got "${host}"`,
    );
  return problems;
}

function isAt(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  return url?.protocol === "https:" && url.hostname === host;
}
