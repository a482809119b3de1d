import { consoleOriginOf } from "../../gateway/console-port/console-origin.ts";
import type { HostSettings } from "../settings.ts";

/** The first page of the console; undefined = there is none. */
export function firstPageUrl(
  settings: Pick<HostSettings, "consoleOrigins" | "consolePort" | "tlsCert">,
): string | undefined {
  if (settings.consolePort === 0) return undefined;
  const origin = consoleOriginOf({ ...settings, isSecure: settings.tlsCert !== undefined }, undefined);
  return `${origin}/ui/`;
}
