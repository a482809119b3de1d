import { clusterSettings } from "../settings/cluster-settings.ts";
import { isQueueName } from "../api/grammar.ts";
import { messageRoom } from "../api/broker/nats-server-options.ts";
import { namedEntries, type NamedEntry } from "../settings/named-entries.ts";
import {
  brokerSettings,
  callTimeSettings,
  durabilitySettings,
  leaseSettings,
  namespaceRule,
  monitorUrls,
  platformSettings,
  processSettings,
  queueSettings,
  retryRules,
  type ConnectionSetting,
} from "../settings/platform-settings.ts";
import type { SettingRule } from "../settings/setting-rules.ts";
import { choice, duration, flag, list, optionalWhole, whole, type Setting, type Values } from "../settings/setting.ts";
import { defaultQueue } from "../api/names.ts";
import { textRule } from "../settings/text-rules.ts";
import type { QueueDeclaration } from "../core/ports/queue-catalog.ts";
import { retryCodes } from "../core/queues/queue-defaults.ts";
import { declareQueues, queueProblems } from "./declare-queues.ts";

const hour = 3_600_000;

/** What holds for every queue whose entry does not say otherwise. */
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

/** What an entry of `queues` may say; what it leaves out comes from the setting that is named with it. */
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

/** Everything the queue-doctor reads. */
export const queueDoctorSettings = {
  ...processSettings,
  ...brokerSettings,
  ...clusterSettings,
  ...leaseSettings,
  ...queueSettings,
  ...callTimeSettings,
  ...platformSettings,
  ...queueDefaults,
  queues: namedEntries("queues", {
    about: "Queues beside the default one, and what is special about each",
    rule: textRule.queue,
    fields: queueEntryFields,
  }),
  doctorPeriod: duration("doctor_period", {
    fallback: "30s",
    min: 100,
    max: hour,
    about: "Time between two looks at the queues",
  }),
  debrisAge: duration("debris_age", {
    fallback: "60s",
    min: 100,
    max: hour,
    about: "How long entries that no worker can reach are watched before the queue is mended",
  }),
  rebuildGap: duration("rebuild_gap", {
    fallback: "5m",
    min: 100,
    max: 24 * hour,
    about: "Shortest time between two mendings of one queue",
  }),
  recreate: list("recreate", {
    fallback: "",
    about: "Queues whose store went away and is made anew, empty; CB = that of the callbacks",
    rule: { test: (name) => name === "CB" || isQueueName(name), expected: "names of queues, or CB" },
  }),
  natsMonitorUrl: monitorUrls("nats_monitor_url", {
    about: "Addresses of the monitoring of the broker's servers; by them the queue-doctor sees that one cannot store",
  }),
  maxFileStore: whole("max_file_store", {
    fallback: "10737418240",
    min: 67_108_864,
    unit: "bytes",
    about: "Bytes the broker may store in all",
  }),
  ...durabilitySettings,
  natsReplicas: choice("nats_replicas", ["1", "3"], { fallback: "1", about: "Copies of every stream" }),
  oneMachine: flag("one_machine", {
    fallback: "false",
    about: "Keep functions and endpoints in the broker, too, where there is no Kubernetes",
  }),
};

/** What the queues are declared from. */
export type QueueFactSettings = Omit<
  Values<typeof queueDoctorSettings>,
  ConnectionSetting | "oneMachine" | "maxFileStore" | "natsReplicas" | "natsMonitorUrl" | "durability"
>;

/** The queues that these settings declare, for those who may read settings and nothing that runs. */
export function declaredQueues(settings: QueueFactSettings): readonly QueueDeclaration[] {
  return declareQueues(settings);
}

const queueRule: SettingRule<QueueFactSettings> = {
  needs: ["queues", "edition", "maxInflight", "queueWorkers", "retryMinWait", "retryMaxWait", "callAge"],
  sentence:
    "Queues keep within the edition: named ones need enterprise, more than one call at a time pro; and each queue keeps the rules about retries.",
  problems: queueProblems,
};

/** The store has room for calls of the largest size. */
export const storeRule: SettingRule<{ readonly asyncMaxBody: number; readonly maxFileStore: number }> = {
  needs: ["asyncMaxBody", "maxFileStore"],
  sentence: "`max_file_store` has room for ten calls and more: it is at least 20 × (`async_max_body` + 256 KiB).",
  problems: ({ asyncMaxBody, maxFileStore }) => {
    const least = 20 * (asyncMaxBody + messageRoom);
    return maxFileStore >= least
      ? []
      : [`max_file_store: expected at least ${least} with async_max_body ${asyncMaxBody}, got "${maxFileStore}"`];
  },
};

/** Three servers hold three copies. */
export const clusterRule: SettingRule<{ readonly durability: string; readonly natsReplicas: string }> = {
  needs: ["durability", "natsReplicas"],
  sentence: "`durability` cluster needs `nats_replicas` 3.",
  problems: ({ durability, natsReplicas }) =>
    durability === "cluster" && natsReplicas !== "3"
      ? [`durability: expected interval or always with nats_replicas ${natsReplicas}, got "cluster"`]
      : [],
};

const recreateRule: SettingRule<Pick<QueueFactSettings, "recreate" | "queues">> = {
  needs: ["recreate", "queues"],
  sentence: "`recreate` names queues that are declared.",
  problems: ({ recreate, queues }) =>
    recreate
      .filter((name) => name !== "CB" && name !== defaultQueue && !queues.some((queue) => queue.name === name))
      .map((name) => `recreate: expected queues that are declared, got "${name}"`),
};

/** What its settings must keep together. */
export const queueDoctorRules = [namespaceRule, ...retryRules, queueRule, recreateRule];

function statuses(name: string): Setting<readonly number[]> {
  const { parse, kind } = list(name, {
    about: "",
    rule: { test: (code) => /^[45]\d\d$/.test(code), expected: "statuses from 400 to 599" },
  });
  return {
    name,
    kind,
    about: "Statuses after which a call is tried again",
    fallback: retryCodes.join(","),
    parse: (text) => {
      const outcome = parse(text);
      return "value" in outcome ? { value: outcome.value.map(Number) } : outcome;
    },
  };
}
