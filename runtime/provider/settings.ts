import { callTimeSettings, functionLimitSettings } from "../settings/platform-settings.ts";

/** Settings of the single-host provider. */
export const providerSettings = {
  /** Stopping replicas get as long to finish their calls. */
  upstreamTimeout: callTimeSettings.upstreamTimeout,
  ...functionLimitSettings,
};
