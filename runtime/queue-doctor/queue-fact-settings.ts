import { namedEntries, type NamedEntry } from "../settings/named-entries.ts";
import { callTimeSettings, platformSettings, queueSettings } from "../settings/platform-settings.ts";
import { duration, flag, list, optionalWhole, whole, type Setting, type Values } from "../settings/setting.ts";
import { textRule } from "../settings/text-rules.ts";
import { retryCodes } from "../core/queues/queue-defaults.ts";

const hour = 3_600_000;

/** Defaults of every queue whose entry does not set them. */
const queueDefaults = {
  maxInflight: optionalWhole("max_inflight", {
    min: 1,
    max: 10_000,
    unit: "calls",
    about:
      "Calls one queue-worker runs at once; when absent 10, in editions community and standard and in strict queues 1",
  }),
  queueWorkers: whole("queue_workers", {
    fallback: "1",
    min: 1,
    max: 1_000,
    unit: "queue-workers",
    about: "Queue-workers of a queue",
  }),
  maxLength: whole("max_length", { fallback: "1000000", min: 1, unit: "calls", about: "Most calls in a queue" }),
  retryAttempts: whole("retry_attempts", {
    fallback: "10",
    max: 100,
    unit: "retries",
    about: "Retries of an asynchronous call after its first run",
  }),
  retryMinWait: duration("retry_min_wait", {
    fallback: "10s",
    min: 10,
    max: 24 * hour,
    about: "Wait before the first retry, doubled each time",
  }),
  retryMaxWait: duration("retry_max_wait", {
    fallback: "120s",
    min: 10,
    max: 24 * hour,
    about: "Longest wait between retries",
  }),
};

/** Fields of an entry of `queues`; one that is left out has the value of the setting it is made from. */
export const queueEntryFields = {
  replicas: { ...queueDefaults.queueWorkers, name: "replicas" },
  maxInflight: { ...queueDefaults.maxInflight, name: "max_inflight", about: "Calls one queue-worker runs at once" },
  timeout: { ...callTimeSettings.upstreamTimeout, name: "timeout", about: "Longest run of a call" },
  ackWait: { ...queueSettings.ackWait, name: "ack_wait" },
  maxLength: { ...queueDefaults.maxLength, name: "max_length" },
  strict: flag("strict", {
    fallback: "false",
    about: "One call at a time, also through its retries",
  }),
  retryAttempts: { ...queueDefaults.retryAttempts, name: "retry.attempts" },
  retryCodes: statuses("retry.codes"),
  retryMinWait: { ...queueDefaults.retryMinWait, name: "retry.min_wait" },
  retryMaxWait: { ...queueDefaults.retryMaxWait, name: "retry.max_wait" },
};

/** One entry of `queues`. */
export type QueueEntry = NamedEntry<typeof queueEntryFields>;

/** Settings from which the queues are declared. */
export const queueFactSettings = {
  ...queueSettings,
  ...callTimeSettings,
  ...platformSettings,
  ...queueDefaults,
  queues: namedEntries("queues", {
    about: "Queues beside the default one, and what is special about each",
    rule: textRule.queue,
    fields: queueEntryFields,
  }),
};

/** Values of {@link queueFactSettings}. */
export type QueueFactSettings = Values<typeof queueFactSettings>;

function statuses(name: string): Setting<readonly number[]> {
  const { parse, kind } = list(name, {
    about: "",
    rule: { test: (code) => /^[45]\d\d$/.test(code), expected: "statuses from 400 to 599" },
  });
  return {
    name,
    kind,
    about: "Statuses after which a call is retried",
    fallback: retryCodes.join(","),
    parse: (text) => {
      const outcome = parse(text);
      return "value" in outcome ? { value: outcome.value.map(Number) } : outcome;
    },
  };
}
