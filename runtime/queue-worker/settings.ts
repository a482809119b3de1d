import { clusterSettings } from "../settings/cluster-settings.ts";
import { egressRule, egressSettings } from "../settings/egress-settings.ts";
import { drainRule, drainSettings, drainTimeoutOf, type DrainFacts } from "../settings/drain-settings.ts";
import { defaultQueue } from "../api/names.ts";
import { historyBodySettings, historySwitch } from "../settings/history-settings.ts";
import {
  brokerSettings,
  callTimeRules,
  callbackRules,
  callbackSettings,
  callTimeSettings,
  credentialSettings,
  monitorSettings,
  namespaceRule,
  optionalUrl,
  platformSettings,
  processSettings,
  queueSettings,
  wakeSettings,
  type ConnectionSetting,
} from "../settings/platform-settings.ts";
import type { SettingRule } from "../settings/setting-rules.ts";
import { duration, flag, text, type Values } from "../settings/setting.ts";
import { textRule } from "../settings/text-rules.ts";

const hour = 3_600_000;

/** Everything a queue-worker reads. */
export const queueWorkerSettings = {
  ...processSettings,
  ...brokerSettings,
  ...monitorSettings,
  ...platformSettings,
  ...clusterSettings,
  ...callTimeSettings,
  ...drainSettings,
  ...queueSettings,
  ...wakeSettings,
  ...callbackSettings,
  ...egressSettings,
  ...historySwitch,
  ...historyBodySettings,
  queue: text("queue", { fallback: defaultQueue, about: "Queue this worker takes calls from", rule: textRule.queue }),
  callbackMinWait: duration("callback_min_wait", {
    fallback: "500ms",
    min: 10,
    max: hour,
    about: "Wait before a callback is retried, doubled each time",
  }),
  callbackMaxWait: duration("callback_max_wait", {
    fallback: "60s",
    min: 10,
    max: hour,
    about: "Longest wait between two attempts of a callback",
  }),
  callbackWindow: duration("callback_window", {
    fallback: "15m",
    min: 100,
    // Records and results of calls with callbacks outlive the call by a day.
    max: 24 * hour,
    about: "How long a callback is retried, from its first attempt on",
  }),
  callbackTimeout: duration("callback_timeout", {
    fallback: "30s",
    min: 100,
    max: hour,
    about: "Longest one attempt of a callback may take; the response head a third of that",
  }),
  gatewayUrl: optionalUrl("gateway_url", {
    about: "Origin at which this worker reaches the gateway; callbacks to the gateway go there",
  }),
  gatewayInvoke: flag("gateway_invoke", {
    fallback: "false",
    about: "Run functions through the gateway instead of calling their replicas",
  }),
  writeDebug: flag("write_debug", {
    fallback: "false",
    about: "Log requests to functions and their responses; without it, only who, when and how",
  }),
  ...credentialSettings,
};

/** Rules that its settings must keep together. */
export const queueWorkerRules = [namespaceRule, ...callTimeRules, drainRule, egressRule, ...callbackRules];

/** To call through the gateway, a worker must know its address. */
export const gatewayInvokeRule: SettingRule<Pick<Values<typeof queueWorkerSettings>, "gatewayInvoke" | "gatewayUrl">> =
  {
    needs: ["gatewayInvoke", "gatewayUrl"],
    sentence: "`gateway_invoke` needs `gateway_url`.",
    problems: ({ gatewayInvoke, gatewayUrl }) =>
      gatewayInvoke && gatewayUrl === undefined ? ["gateway_invoke: expected gateway_url with it, got none"] : [],
  };

/** Values of the settings that a queue-worker itself uses. */
export type QueueWorkerSettings = Omit<Values<typeof queueWorkerSettings>, ConnectionSetting | "gatewayUrl">;

/** Timeout for the head of a callback's response, milliseconds. */
export function callbackHeadTimeout({ callbackTimeout }: Pick<QueueWorkerSettings, "callbackTimeout">): number {
  return callbackTimeout / 3;
}

/** Milliseconds a worker may take to stop: the wait for runs, the hand-back, and closing everything else. */
export function workerDrainTimeout(settings: DrainFacts): number {
  return drainTimeoutOf(settings) + 10_000;
}
