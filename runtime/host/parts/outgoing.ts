import { readFileSync } from "node:fs";

import { HttpCallbackSender } from "../../adapters/http/callbacks/http-callback-sender.ts";
import { HttpUpstream } from "../../adapters/http/upstream/http-upstream.ts";
import type { CallbackRules } from "../../core/callbacks/callback-policy.ts";
import { trustAuthorities } from "../../process/files/trusted-authorities.ts";
import { buildInvocationMetrics, type InvocationMetrics } from "../../process/metrics/invocation-metrics.ts";
import { callbackHeadTimeout } from "../../queue-worker/settings.ts";
import { hostCallbackRules } from "../addresses.ts";
import type { HostStart } from "./host-start.ts";
import type { Broker } from "./broker.ts";
import type { ChosenEngine } from "./engine.ts";
import type { HostPlace } from "./place.ts";

/** The clients by which gateway and queue-workers reach functions and callbacks. */
export interface Outgoing {
  readonly upstream: HttpUpstream;
  readonly sender: HttpCallbackSender;
  readonly callbackRules: CallbackRules;
  readonly invocations: InvocationMetrics;
}

export async function openOutgoing(given: HostStart & HostPlace & Broker & ChosenEngine): Promise<Outgoing> {
  const { settings, lifecycle, url, nats } = given;
  const certificate = settings.tlsCert === undefined ? undefined : readFileSync(settings.tlsCert);
  const upstream = new HttpUpstream({ certificate });
  lifecycle.onClose("upstream", () => upstream.close());
  const callbackRules = hostCallbackRules(settings, {
    own: url,
    provider: given.providerName,
    closedUrls: [given.adminUrl, nats.url, nats.monitorUrl],
    replicaAddresses: () => given.engine.replicas.addresses(),
  });
  if (settings.trustedAuthorities !== undefined) trustAuthorities(settings.trustedAuthorities);
  const sender = new HttpCallbackSender({
    rules: callbackRules,
    gatewayOrigin: url,
    gatewayCertificate: certificate,
    headTimeout: callbackHeadTimeout(settings),
    timeout: settings.callbackTimeout,
    egress: settings,
  });
  lifecycle.onClose("callback sender", () => sender.close());
  return { upstream, sender, callbackRules, invocations: buildInvocationMetrics(given.admin.registry) };
}
