import { clusterSettings } from "../settings/cluster-settings.ts";
import { parseDeclaredQueue } from "../settings/declared-queue.ts";
import { list } from "../settings/setting.ts";
import {
  callTimeRules,
  callTimeSettings,
  functionLimitSettings,
  leaseSettings,
  namespaceRule,
  platformSettings,
  processSettings,
  publicUrlSetting,
} from "../settings/platform-settings.ts";

/** All settings that the operator reads. */
export const operatorSettings = {
  ...processSettings,
  ...platformSettings,
  ...clusterSettings,
  ...leaseSettings,
  /** Replicas that stop get this long to finish their calls. */
  upstreamTimeout: callTimeSettings.upstreamTimeout,
  timeoutMax: callTimeSettings.timeoutMax,
  ...functionLimitSettings,
  publicUrl: publicUrlSetting,
  declaredQueues: list("declared_queues", {
    fallback: "",
    about:
      "Declared queues, each with the longest run of its calls: default=30s,mail=5m. When empty, the queues that functions name are not checked",
    rule: {
      test: (entry) => parseDeclaredQueue(entry) !== undefined,
      expected: "queues with the longest run of their calls, such as mail=5m",
    },
  }),
  clusterRanges: list("cluster_ranges", {
    fallback: "10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fc00::/7",
    about: "Ranges of pods, services and nodes, and whatever else functions may not reach directly",
    rule: { test: (range) => /^[0-9a-fA-F.:]+\/\d{1,3}$/.test(range), expected: "ranges such as 10.0.0.0/8" },
  }),
};

/** Rules across several of these settings. */
export const operatorRules = [namespaceRule, ...callTimeRules];
