import { createHash } from "node:crypto";

import type { KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf } from "../names.ts";
import type { Platform } from "../platform.ts";

const name = "trusted-authorities";
const file = "ca.crt";
const directory = "/etc/weir-authorities";

/** The authorities of a stack, for the pods of all processes; nothing when it has none. */
export function authorityManifests({ platformNamespace: namespace, trustedAuthorities }: Platform): KubernetesObject[] {
  if (trustedAuthorities === undefined) return [];
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, labels: labelsOf(name) },
      data: { [file]: `${trustedAuthorities.trim()}\n` },
    },
  ];
}

/** How a pod trusts them beside those that Node.js knows; another content starts it anew. */
export function authorityParts({ trustedAuthorities }: Platform) {
  if (trustedAuthorities === undefined) return { volumes: [], environment: [], annotations: {} };
  return {
    volumes: [{ mountPath: directory, volume: { name: "authorities", configMap: { name } } }],
    environment: [{ name: "NODE_EXTRA_CA_CERTS", value: `${directory}/${file}` }],
    annotations: {
      "weir/authorities": createHash("sha256").update(trustedAuthorities.trim()).digest("hex").slice(0, 16),
    },
  };
}
