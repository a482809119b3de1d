import { gatewayPort } from "./processes/gateway.ts";
import { given, type KubernetesObject } from "./kubernetes-object.ts";
import { labelsOf } from "./names.ts";
import type { Platform } from "./platform.ts";

/** Name of the Secret in which cert-manager stores the certificate. */
const issuedSecret = "gateway-tls";

/** The entry point from outside, if a host is set. */
export function ingressManifests(platform: Platform): KubernetesObject[] {
  const { ingress, platformNamespace: namespace } = platform;
  const { host, className, clusterIssuer } = ingress;
  if (host === undefined) return [];
  const secret = ingress.tlsSecret ?? (clusterIssuer === undefined ? undefined : issuedSecret);
  const annotations = {
    ...(className === "nginx" ? proxyAnnotations(platform) : {}),
    ...given("cert-manager.io/cluster-issuer", clusterIssuer),
    ...ingress.annotations,
  };
  return [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "gateway", namespace, labels: labelsOf("gateway"), annotations },
      spec: {
        ...given("ingressClassName", className),
        ...given("tls", secret === undefined ? undefined : [{ hosts: [host], secretName: secret }]),
        rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
      },
    },
  ];
}

const backend = { service: { name: "gateway", port: { number: gatewayPort } } };

/** The gateway limits bodies and times itself; the proxy must neither abort nor buffer. */
function proxyAnnotations({ settings: { gateway } }: Platform): Readonly<Record<string, string>> {
  const { wakeTimeout, timeoutMax, streamIdleTimeout, websocketIdleTimeout } = gateway;
  const idleTimeout = Math.max(wakeTimeout + timeoutMax, streamIdleTimeout, websocketIdleTimeout);
  const seconds = String(Math.ceil(idleTimeout / 1_000) + 5);
  const prefix = "nginx.ingress.kubernetes.io/proxy";
  return {
    [`${prefix}-body-size`]: "0",
    [`${prefix}-buffering`]: "off",
    [`${prefix}-request-buffering`]: "off",
    [`${prefix}-read-timeout`]: seconds,
    [`${prefix}-send-timeout`]: seconds,
  };
}
