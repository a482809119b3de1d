import { clusterSettings } from "../api/cluster-settings.ts";
import { list } from "../api/setting.ts";
import {
  callTimeRules,
  callTimeSettings,
  functionLimitSettings,
  leaseSettings,
  namespaceRule,
  platformSettings,
  processSettings,
} from "../api/platform-settings.ts";

/** Everything the operator reads. */
export const operatorSettings = {
  ...processSettings,
  ...platformSettings,
  ...clusterSettings,
  ...leaseSettings,
  /** Replicas that stop get as long to finish their calls. */
  upstreamTimeout: callTimeSettings.upstreamTimeout,
  timeoutMax: callTimeSettings.timeoutMax,
  ...functionLimitSettings,
  clusterRanges: list("cluster_ranges", {
    fallback: "10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fc00::/7",
    about: "Ranges of pods, services and nodes, and whatever else functions may not reach by themselves",
    rule: { test: (range) => /^[0-9a-fA-F.:]+\/\d{1,3}$/.test(range), expected: "ranges such as 10.0.0.0/8" },
  }),
};

/** What its settings must keep together. */
export const operatorRules = [namespaceRule, ...callTimeRules];
