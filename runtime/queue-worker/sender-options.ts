import { brokerPorts } from "../api/broker/broker-addresses.ts";
import { platformCallbackRules } from "../core/callbacks/platform-callback-rules.ts";
import { machineFacts } from "../process/machine-facts.ts";
import { clusterGatewayUrl } from "../settings/platform-settings.ts";
import type { Values } from "../settings/setting.ts";
import { callbackHeadTimeout, type queueWorkerSettings } from "./settings.ts";

/** Callback options of a queue-worker that is a process of its own. */
export function senderOptions(settings: Values<typeof queueWorkerSettings>) {
  return {
    rules: platformCallbackRules({
      ...settings,
      ...machineFacts(),
      clusterGatewayUrl: clusterGatewayUrl(settings),
      publicUrls: [settings.gatewayUrl],
      platformPorts: [settings.adminPort, ...brokerPorts(settings.natsUrl)],
    }),
    gatewayOrigin: settings.gatewayUrl,
    headTimeout: callbackHeadTimeout(settings),
    timeout: settings.callbackTimeout,
  };
}
