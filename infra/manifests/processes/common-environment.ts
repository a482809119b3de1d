import { gatewayOrigin, type Platform } from "../platform.ts";
import { natsUrl } from "../broker/nats-addresses.ts";
import { adminPort, brokerDirectory } from "./process-deployment.ts";

/** Settings that are decided alike for every process. */
export function processEnvironment() {
  return { adminHost: "0.0.0.0", adminPort } as const;
}

/** Names that all processes agree on. */
export function platformEnvironment(platform: Platform) {
  const { edition, platformNamespace, functionNamespace } = platform;
  return { edition, platformNamespace, functionNamespace, clusterGatewayUrl: gatewayOrigin(platform) };
}

/** How a process reaches the API server. */
export function clusterEnvironment() {
  return {
    provider: "kubernetes",
    kubernetesHost: { podVariable: "KUBERNETES_SERVICE_HOST" },
    kubernetesPort: { podVariable: "KUBERNETES_SERVICE_PORT" },
    serviceAccountDir: undefined,
  } as const;
}

/** How a process reaches the broker, and as which user. */
function brokerEnvironment(platform: Platform, user: string) {
  return {
    natsUrl: natsUrl(platform),
    natsUser: user,
    natsPasswordFile: `${brokerDirectory}/password`,
    natsCaFile: platform.nats.tls ? `${brokerDirectory}/ca.crt` : undefined,
  };
}

/** Settings that are decided alike for every process that uses the broker and the API server. */
export function brokerProcessEnvironment(platform: Platform, user: string) {
  return {
    ...processEnvironment(),
    ...brokerEnvironment(platform, user),
    ...platformEnvironment(platform),
    ...clusterEnvironment(),
  };
}
