import { brokerPorts } from "../api/broker/broker-addresses.ts";
import type { SystemInfo } from "../api/schemas/system-info.ts";
import { release } from "../api/version.ts";
import type { CallbackRules } from "../core/callbacks/callback-policy.ts";
import { platformCallbackRules } from "../core/callbacks/platform-callback-rules.ts";
import { RegisteredReplicas } from "../core/callbacks/replica-places.ts";
import { platformInfo } from "../core/platform-info.ts";
import { machineFacts } from "../process/machine-facts.ts";
import { clusterGatewayUrl } from "../settings/platform-settings.ts";
import type { Values } from "../settings/setting.ts";
import type { gatewaySettings } from "./settings.ts";

/** Callback rules and system info of a gateway in its own process. */
export function gatewayFacts(settings: Values<typeof gatewaySettings>): {
  readonly callbackRules: CallbackRules;
  /** The rules know the replicas that this watches. */
  readonly replicas: RegisteredReplicas;
  readonly info: SystemInfo;
} {
  const replicas = new RegisteredReplicas();
  return {
    replicas,
    callbackRules: platformCallbackRules({
      ...settings,
      ...machineFacts(),
      isReplica: replicas.isReplica,
      gatewayPorts: [settings.port],
      clusterGatewayUrl: clusterGatewayUrl(settings),
      publicUrls: [settings.publicUrl],
      platformPorts: [settings.adminPort, settings.consolePort, ...brokerPorts(settings.natsUrl)],
    }),
    info: platformInfo({
      ...settings,
      version: { release, sha: "unreleased", commit_message: "unreleased" },
      arch: process.arch,
    }),
  };
}
