import { createHash } from "node:crypto";

const commonPrefix = "weir";

/** Prefix of the names of all bridges of `instance`, and of no other instance's. */
export function bridgePrefix(instance: string): string {
  return commonPrefix + hash(instance).slice(0, 5);
}

/** Name of the bridge of a namespace; Linux allows 15 characters. */
export function bridgeName(instance: string, namespace: string): string {
  return bridgePrefix(instance) + hash(namespace).slice(0, 6);
}

/** Pattern of iptables for the bridges of every instance. */
export const anyBridge = `${commonPrefix}+`;

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
