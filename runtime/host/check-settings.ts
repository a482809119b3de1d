import { isLoopbackHost } from "../api/host-grammar.ts";
import { needsLoopback, type FolderFault } from "../core/functions/local-folder.ts";
import type { HostSettings } from "./settings.ts";

/** Warnings that do not prevent the start. */
export function warnings({ host, tlsCert }: Pick<HostSettings, "host" | "tlsCert">): string[] {
  if (tlsCert !== undefined || isLoopbackHost(host)) return [];
  return [
    `--host ${host} without TLS: passwords and calls can be read and changed on the way; use --tls-cert and --tls-key`,
  ];
}

/** The engine's `fault`, unless other machines can reach the gateway. */
export function folderFaultHere(
  { host }: Pick<HostSettings, "host">,
  fault: FolderFault | undefined,
): FolderFault | undefined {
  return fault === undefined || isLoopbackHost(host) ? fault : () => Promise.resolve(needsLoopback);
}
