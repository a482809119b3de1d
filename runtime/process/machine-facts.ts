import { networkInterfaces } from "node:os";

import { environment } from "./settings.ts";

/** The addresses of this machine, as they are now. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}

/** The container engine's address in `DOCKER_HOST`, if set. */
export function dockerHost(): string | undefined {
  return environment()["DOCKER_HOST"];
}

/** Facts by which callbacks to this machine are judged. */
export function machineFacts() {
  return { engine: dockerHost(), ownAddresses } as const;
}

/**
 * Variables that tools need to be found, and to reach their registries from inside a company: its proxy, its
 * authorities, its mirrors. Others may hold what is not for the commands of a function.
 */
const toolVariables = new Set([
  "PATH",
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]),
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "GOPROXY",
  "GOFLAGS",
  "GOPRIVATE",
  "GONOPROXY",
  "GOSUMDB",
  "GONOSUMDB",
  "GONOSUMCHECK",
  "GOINSECURE",
]);
/** Those of npm that say where packages come from; npm itself sets more, about who runs it. */
const npmVariable =
  /^npm_config_(?:registry|proxy|https_proxy|http_proxy|noproxy|cafile|ca|strict_ssl|@.+:registry|\/\/.+)$/i;
const pipVariable = /^(?:PIP|UV)_(?!CACHE_DIR$|TARGET$|PREFIX$|REQUIRE_VIRTUALENV$)[A-Z_]+$/;

/** What tools that this process starts need of its environment to be found, and to reach the network. */
export function toolEnvironment(own = environment()): Readonly<Record<string, string>> {
  const isTools = (name: string): boolean =>
    toolVariables.has(name) || npmVariable.test(name) || pipVariable.test(name);
  return Object.fromEntries(
    Object.entries(own).flatMap(([name, value]) => (value === undefined || !isTools(name) ? [] : [[name, value]])),
  );
}
