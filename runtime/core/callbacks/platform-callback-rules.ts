import { enginePorts, gatewayOrigins, type OriginFacts } from "./callback-origins.ts";
import type { CallbackPolicy, CallbackRules, IsReplica } from "./callback-policy.ts";

/** Facts that the callback rules are derived from: settings, and what a process knows about its machine. */
export interface CallbackFacts extends OriginFacts {
  readonly callbackPolicy: CallbackPolicy;
  readonly callbackAllow: readonly string[];
  /** Ports of the platform: broker, monitoring and admin server. */
  readonly platformPorts: readonly number[];
  /** Ports at which the gateway listens on this machine. */
  readonly gatewayPorts?: readonly number[];
  /** Address of the container engine (`DOCKER_HOST`), if set. */
  readonly engine: string | undefined;
  /** Addresses of this machine, as they are now. */
  readonly ownAddresses: () => readonly string[];
  readonly isReplica?: IsReplica;
}

/** The rules for where callbacks may go. */
export function platformCallbackRules(facts: CallbackFacts): CallbackRules {
  return {
    policy: facts.callbackPolicy,
    allow: facts.callbackAllow,
    gatewayOrigins: gatewayOrigins(facts),
    closedPorts: [...facts.platformPorts, ...enginePorts(facts.engine)],
    gatewayPorts: facts.gatewayPorts,
    ownAddresses: facts.ownAddresses,
    isReplica: facts.isReplica,
  };
}
