import type { ProviderName } from "../api/machine-providers.ts";
import type { SetAsidePart, SystemInfo } from "../api/schemas/system-info.ts";
import { platformInfo } from "../core/platform-info.ts";
import { releaseInfo } from "./release-info.ts";
import type { HostSettings } from "./settings.ts";

/** The reply of `/system/info` on this machine. */
export async function systemInfo(
  settings: HostSettings,
  provider: ProviderName,
  setAside: readonly SetAsidePart[],
): Promise<SystemInfo> {
  const info = platformInfo({ ...settings, provider, version: await releaseInfo(), arch: process.arch });
  return setAside.length === 0 ? info : { ...info, setAside: [...setAside] };
}
