import { brokerPorts } from "../api/broker/broker-addresses.ts";
import { platformCallbackRules } from "../core/callbacks/platform-callback-rules.ts";
import { RegisteredReplicas } from "../core/callbacks/replica-places.ts";
import { machineFacts } from "../process/machine-facts.ts";
import { clusterGatewayUrl } from "../settings/platform-settings.ts";
import type { Values } from "../settings/setting.ts";
import { callbackHeadTimeout, type queueWorkerSettings } from "./settings.ts";

/** Callback options of a queue-worker that is a process of its own; its rules know the replicas that `replicas` watches. */
export function senderOptions(settings: Values<typeof queueWorkerSettings>) {
  const replicas = new RegisteredReplicas();
  return {
    replicas,
    rules: platformCallbackRules({
      ...settings,
      ...machineFacts(),
      isReplica: replicas.isReplica,
      clusterGatewayUrl: clusterGatewayUrl(settings),
      publicUrls: [settings.gatewayUrl],
      platformPorts: [settings.adminPort, ...brokerPorts(settings.natsUrl)],
    }),
    gatewayOrigin: settings.gatewayUrl,
    egress: settings,
    headTimeout: callbackHeadTimeout(settings),
    timeout: settings.callbackTimeout,
  };
}
