import { callTimeSettings, functionLimitSettings } from "../settings/platform-settings.ts";

/** Settings of the single-host provider. */
export const providerSettings = {
  /** Also the time that stopping replicas get to finish their calls. */
  upstreamTimeout: callTimeSettings.upstreamTimeout,
  ...functionLimitSettings,
};
