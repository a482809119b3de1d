import { createHash } from "node:crypto";

const commonPrefix = "weir";

/** Begins the names of all bridges of `instance`, and no other's. */
export function bridgePrefix(instance: string): string {
  return commonPrefix + hash(instance).slice(0, 5);
}

/** Name of the bridge of a namespace; the system takes 15 characters. */
export function bridgeName(instance: string, namespace: string): string {
  return bridgePrefix(instance) + hash(namespace).slice(0, 6);
}

/** As iptables writes the bridges of every instance. */
export const anyBridge = `${commonPrefix}+`;

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
