import { consoleService } from "./console.ts";
import { gatewayPort } from "./processes/gateway.ts";
import { given, type KubernetesObject } from "./kubernetes-object.ts";
import { labelsOf } from "./names.ts";
import type { Platform } from "./platform.ts";

/** The entry points from outside, of the gateway and of its console, each if it has a host. */
export function ingressManifests(platform: Platform): KubernetesObject[] {
  return [
    ...ingressTo(platform, "gateway", gatewayPort, platform.ingress),
    ...ingressTo(platform, consoleService, platform.settings.gateway.consolePort, platform.console),
  ];
}

/** The Ingress to a Service, of the same name. */
function ingressTo(
  platform: Platform,
  name: string,
  port: number,
  { host, className, tlsSecret, clusterIssuer, annotations }: Platform["ingress"],
): KubernetesObject[] {
  if (host === undefined) return [];
  // cert-manager stores the certificate in this Secret.
  const secret = tlsSecret ?? (clusterIssuer === undefined ? undefined : `${name}-tls`);
  const all = {
    ...(className === "nginx" ? proxyAnnotations(platform) : {}),
    ...given("cert-manager.io/cluster-issuer", clusterIssuer),
    ...annotations,
  };
  const backend = { service: { name, port: { number: port } } };
  return [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name, namespace: platform.platformNamespace, labels: labelsOf("gateway"), annotations: all },
      spec: {
        ...given("ingressClassName", className),
        ...given("tls", secret === undefined ? undefined : [{ hosts: [host], secretName: secret }]),
        rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
      },
    },
  ];
}

/** The gateway limits bodies and times itself; the proxy must neither abort nor buffer. */
function proxyAnnotations({ settings: { gateway } }: Platform): Readonly<Record<string, string>> {
  const { wakeTimeout, timeoutMax, streamIdleTimeout, websocketIdleTimeout } = gateway;
  const idleTimeout = Math.max(wakeTimeout + timeoutMax, streamIdleTimeout, websocketIdleTimeout);
  const seconds = String(Math.ceil(idleTimeout / 1_000) + 5);
  const prefix = "nginx.ingress.kubernetes.io/proxy";
  return {
    [`${prefix}-body-size`]: "0",
    [`${prefix}-buffering`]: "off",
    // For headers: a sign-in and what functions say to the console do not fit into nginx's own 4 KiB.
    [`${prefix}-buffer-size`]: "16k",
    [`${prefix}-request-buffering`]: "off",
    [`${prefix}-read-timeout`]: seconds,
    [`${prefix}-send-timeout`]: seconds,
  };
}
