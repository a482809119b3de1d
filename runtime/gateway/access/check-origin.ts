import { clusterGatewayUrl } from "../../settings/platform-settings.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { quote } from "../../core/quote.ts";
import type { ClientAddresses } from "../edge/client-address.ts";
import type { GatewaySettings } from "../settings.ts";

/** Which origins of pages a browser may call the platform from. */
export interface OriginRules {
  /** The gateway's own origins and those of `allowed_origins`, in lower case. The `Host` of a request never counts. */
  readonly allowed: ReadonlySet<string>;
  /** Those of `allowed_origins` alone, in lower case; absent: what a browser says about the page is not looked at. */
  readonly pages?: ReadonlySet<string>;
  readonly clients: ClientAddresses;
}

/** Origins that may call the platform according to the settings. */
export function configuredOrigins(
  settings: Pick<GatewaySettings, "allowedOrigins" | "publicUrl" | "platformNamespace" | "clusterGatewayUrl">,
): string[] {
  const own = [settings.publicUrl, clusterGatewayUrl(settings)].flatMap((url) => URL.parse(url ?? "")?.origin ?? []);
  return [...settings.allowedOrigins, ...own].map((origin) => origin.toLowerCase());
}

/** Addresses that the settings say the platform has. */
export function configuredAddresses(
  settings: Pick<GatewaySettings, "consoleOrigins" | "publicUrl" | "platformNamespace" | "clusterGatewayUrl">,
): (string | undefined)[] {
  return [settings.publicUrl, clusterGatewayUrl(settings), ...settings.consoleOrigins];
}

/** Origins under which a gateway that listens at `port` is reached from its own machine. */
export function loopbackOrigins(port: number, secure: boolean): string[] {
  const scheme = secure ? "https" : "http";
  // As a browser writes them: without the port if it is the scheme's default.
  return ["127.0.0.1", "localhost", "[::1]"].flatMap((host) => URL.parse(`${scheme}://${host}:${port}`)?.origin ?? []);
}

/**
 * Refuses requests that a browser sends for a page of another origin (contract §1.2).
 * @throws PlatformError `cross_origin`
 */
export function checkOrigin(origin: string | undefined, { allowed }: Pick<OriginRules, "allowed">): void {
  if (origin === undefined || allowed.has(origin.toLowerCase())) return;
  throw new PlatformError(
    "cross_origin",
    `Cannot answer a page of origin ${quote(origin)}: it is not the gateway's nor allowed`,
  );
}

/**
 * Refuses what a page sent, unless its origin is one of `allowed_origins`: the gateway's own pages are those of
 * functions (`iam.md` §8).
 * @throws PlatformError `cross_origin`
 */
export function checkFetchSite(
  site: string | readonly string[] | undefined,
  origin: string | undefined,
  { pages }: Pick<OriginRules, "pages">,
): void {
  if (pages === undefined || site === undefined || site === "none") return;
  if (origin !== undefined && pages.has(origin.toLowerCase())) return;
  throw new PlatformError(
    "cross_origin",
    "Cannot answer a page: pages of this address are those of functions, and its origin is not among allowed_origins",
  );
}
