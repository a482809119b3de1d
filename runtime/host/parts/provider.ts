import { FileCallbackSecrets } from "../../adapters/files/file-callback-secrets.ts";
import { HttpProber } from "../../adapters/http/probe/http-prober.ts";
import { NatsEndpoints } from "../../adapters/nats/stores/nats-endpoints.ts";
import { buildProvider, type Provider } from "../../provider/build-provider.ts";
import { functionGatewayUrl } from "../addresses.ts";
import type { HostStart } from "./host-start.ts";
import type { HostIdentity } from "./identity.ts";
import { longestRun } from "../settings.ts";
import type { ChosenEngine } from "./engine.ts";
import type { HostPlace } from "./place.ts";

/** Reconciles the deployed functions from now on. */
export async function openProvider(
  given: HostStart & HostPlace & ChosenEngine & HostIdentity,
): Promise<{ readonly provider: Provider }> {
  const { settings, lifecycle, engine, functions, namespaces } = given;
  const provider = buildProvider({
    functions,
    namespaces,
    endpoints: new NatsEndpoints(given.providerLink),
    replicas: engine.replicas,
    secrets: engine.secrets,
    callbackSecrets: new FileCallbackSecrets(given.layout.secrets),
    prober: new HttpProber(),
    gatewayUrl: functionGatewayUrl(settings, given.providerName, given.url),
    secretsDirectory: (ref) => engine.secretsDirectory(ref),
    identity: given.identity,
    upstreamTimeout: longestRun(settings, given.queues),
    log: given.log.child({ part: "provider" }),
  });
  await provider.open();
  lifecycle.onClose("provider", () => provider.close());
  // Before everything else: it would restart replicas that are being ended, and report false failures.
  lifecycle.onEndNow("provider", () => void provider.close().catch(() => {}));
  return { provider };
}
