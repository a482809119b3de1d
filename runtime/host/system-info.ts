import type { SystemInfo } from "../api/system-info.ts";
import { apiVersion, release } from "../api/version.ts";
import type { ProviderName } from "./provider-choice.ts";
import { releaseInfo } from "./release-info.ts";
import type { HostSettings } from "./settings.ts";

/** What `/system/info` says of this machine. */
export async function systemInfo(settings: HostSettings, provider: ProviderName): Promise<SystemInfo> {
  return {
    provider: {
      provider: `weir-${provider}`,
      orchestration: provider === "local" ? "process" : provider,
      version: release,
    },
    version: await releaseInfo(),
    arch: process.arch,
    edition: settings.edition,
    apiVersion,
    functionNamespace: settings.functionNamespace,
    namespaceAliases: [...settings.namespaceAliases],
    durability: settings.durability,
  };
}
