import { clusterSettings } from "../settings/cluster-settings.ts";
import {
  brokerSettings,
  callTimeSettings,
  leaseSettings,
  namespaceRule,
  platformSettings,
  processSettings,
  type ConnectionSetting,
} from "../settings/platform-settings.ts";
import { notAbove } from "../settings/setting-rules.ts";
import { duration, type Values } from "../settings/setting.ts";

const minute = 60_000;

/** Everything the autoscaler reads. */
export const autoscalerSettings = {
  ...processSettings,
  ...brokerSettings,
  ...platformSettings,
  ...clusterSettings,
  ...leaseSettings,
  wakeTimeout: callTimeSettings.wakeTimeout,
  scalePeriod: duration("scale_period", {
    fallback: "2s",
    min: 50,
    max: minute,
    about: "Time between two sweeps over the load of all functions",
  }),
  scaleWindow: duration("scale_window", {
    fallback: "10s",
    min: 1_000,
    max: 10 * minute,
    about: "Time over which load is averaged, and which must have been observed before replicas are removed",
  }),
  activityTimeout: duration("activity_timeout", {
    fallback: "5m",
    min: 5_000,
    max: 60 * minute,
    about: "How long a gateway or queue-worker that went silent keeps replicas from being removed",
  }),
};

/** What an autoscaler is built with. */
export type AutoscalerSettings = Omit<
  Values<typeof autoscalerSettings>,
  ConnectionSetting | keyof typeof platformSettings
>;

/** Rules that its settings must keep together. */
export const autoscalerRules = [namespaceRule, notAbove("scalePeriod", "scaleWindow")] as const;
