import { clusterSettings } from "../settings/cluster-settings.ts";
import { isQueueName } from "../api/grammar.ts";
import { messageRoom } from "../api/broker/nats-server-options.ts";
import {
  brokerSettings,
  durabilitySettings,
  leaseSettings,
  namespaceRule,
  monitorSettings,
  processSettings,
  retryRules,
} from "../settings/platform-settings.ts";
import type { SettingRule } from "../settings/setting-rules.ts";
import { choice, duration, flag, list, whole, type Values } from "../settings/setting.ts";
import { defaultQueue } from "../api/names.ts";
import type { QueueDeclaration } from "../core/ports/queue-catalog.ts";
import { declareQueues, queueProblems } from "./declare-queues.ts";
import { queueFactSettings, type QueueFactSettings } from "./queue-fact-settings.ts";

const hour = 3_600_000;

/** Everything the queue-doctor reads. */
export const queueDoctorSettings = {
  ...processSettings,
  ...brokerSettings,
  ...clusterSettings,
  ...leaseSettings,
  ...queueFactSettings,
  doctorPeriod: duration("doctor_period", {
    fallback: "30s",
    min: 100,
    max: hour,
    about: "Time between two checks of the queues",
  }),
  orphanGrace: duration("orphan_grace", {
    fallback: "60s",
    min: 100,
    max: hour,
    about: "How long entries that no worker can reach are watched before the queue is repaired",
  }),
  repairCooldown: duration("repair_cooldown", {
    fallback: "5m",
    min: 100,
    max: 24 * hour,
    about: "Shortest time between two repairs of one queue",
  }),
  recreate: list("recreate", {
    fallback: "",
    about: "Queues whose store is gone and is to be recreated, empty; CB = that of the callbacks",
    rule: { test: (name) => name === "CB" || isQueueName(name), expected: "names of queues, or CB" },
  }),
  ...monitorSettings,
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

/** The queues that these settings declare, for modules that may import settings but no code that runs. */
export function declaredQueues(settings: QueueFactSettings): readonly QueueDeclaration[] {
  return declareQueues(settings);
}

const queueRule: SettingRule<QueueFactSettings> = {
  needs: ["queues", "edition", "maxInflight", "queueWorkers", "retryMinWait", "retryMaxWait", "callMaxAge"],
  sentence:
    "Queues stay within the edition: named ones need enterprise, more than one call at a time needs pro; and each queue keeps the rules about retries.",
  problems: queueProblems,
};

/** What these settings say about the broker's store. */
export function storeFacts(settings: Values<typeof queueDoctorSettings>) {
  return {
    maxFileStore: settings.maxFileStore,
    payloadLimit: settings.asyncMaxBody,
    maxCallRecords: settings.maxCallRecords,
    replicas: Number(settings.natsReplicas),
    oneMachine: settings.oneMachine,
  };
}

/** The store has room for calls of the largest size. */
export const storeRule: SettingRule<{ readonly asyncMaxBody: number; readonly maxFileStore: number }> = {
  needs: ["asyncMaxBody", "maxFileStore"],
  sentence: "`max_file_store` has room for ten calls and more: it is at least 25 × (`async_max_body` + 256 KiB).",
  problems: ({ asyncMaxBody, maxFileStore }) => {
    const least = 25 * (asyncMaxBody + messageRoom);
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

const recreateRule: SettingRule<Pick<QueueFactSettings, "queues"> & { readonly recreate: readonly string[] }> = {
  needs: ["recreate", "queues"],
  sentence: "`recreate` names queues that are declared.",
  problems: ({ recreate, queues }) =>
    recreate
      .filter((name) => name !== "CB" && name !== defaultQueue && !queues.some((queue) => queue.name === name))
      .map((name) => `recreate: expected queues that are declared, got "${name}"`),
};

/** Rules that its settings must keep together. */
export const queueDoctorRules = [namespaceRule, ...retryRules, queueRule, recreateRule];
