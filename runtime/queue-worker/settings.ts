import { defaultQueue } from "../api/names.ts";
import {
  brokerSettings,
  callbackSettings,
  callTimeSettings,
  platformSettings,
  processSettings,
  queueSettings,
  wakeSettings,
  type ConnectionSetting,
} from "../api/platform-settings.ts";
import { duration, optionalText, text, type Values } from "../api/setting.ts";

/** Everything a queue-worker reads. */
export const queueWorkerSettings = {
  ...processSettings,
  ...brokerSettings,
  ...platformSettings,
  ...callTimeSettings,
  ...queueSettings,
  ...wakeSettings,
  ...callbackSettings,
  queue: text("queue", { fallback: defaultQueue, about: "Queue this worker takes calls from" }),
  callbackMinWait: duration("callback_min_wait", {
    fallback: "500ms",
    about: "Wait before a callback is tried again, doubled each time",
  }),
  callbackMaxWait: duration("callback_max_wait", {
    fallback: "60s",
    about: "Longest wait between two tries of a callback",
  }),
  callbackWindow: duration("callback_window", {
    fallback: "15m",
    about: "How long a callback is tried, from its first try on",
  }),
  callbackTimeout: duration("callback_timeout", {
    fallback: "30s",
    about: "Longest one try of a callback may take; its head a third of that",
  }),
  gatewayUrl: optionalText("gateway_url", {
    about: "Origin at which this worker reaches the gateway; callbacks to the gateway go there",
  }),
};

/** What a queue-worker itself needs of them. */
export type QueueWorkerSettings = Omit<Values<typeof queueWorkerSettings>, ConnectionSetting | "gatewayUrl">;

/** Milliseconds a worker may take to stop: the longest run its queue allows, the hand-back and what else is to be closed. */
export function workerDrainTimeout(queue: { readonly timeout: number }): number {
  return queue.timeout + 10_000;
}
