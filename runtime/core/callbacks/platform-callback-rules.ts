import { enginePorts, gatewayOrigins, type OriginFacts } from "./callback-origins.ts";
import type { CallbackPolicy, CallbackRules } from "./callback-policy.ts";

/** What the rules for callbacks follow from: settings, and what a process knows of its machine. */
export interface CallbackFacts extends OriginFacts {
  readonly callbackPolicy: CallbackPolicy;
  readonly callbackAllow: readonly string[];
  /** Ports of the platform: of broker, monitoring and admin server. */
  readonly platformPorts: readonly number[];
  /** Where the container engine is, if that is said. */
  readonly engine: string | undefined;
  /** Addresses of this machine. */
  readonly ownAddresses: readonly string[];
}

/** Where callbacks may go. */
export function platformCallbackRules(facts: CallbackFacts): CallbackRules {
  return {
    policy: facts.callbackPolicy,
    allow: facts.callbackAllow,
    gatewayOrigins: gatewayOrigins(facts),
    closedPorts: [...facts.platformPorts, ...enginePorts(facts.engine)],
    ownAddresses: facts.ownAddresses,
  };
}
