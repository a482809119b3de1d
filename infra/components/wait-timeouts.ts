import type * as pulumi from "@pulumi/pulumi";

import { parseDuration } from "../../runtime/api/duration.ts";
import type { Values } from "../../runtime/settings/setting.ts";
import type { KubernetesObject } from "../manifests/kubernetes-object.ts";
import { isGated } from "./stages.ts";
import type { timeoutOptions } from "../stack-options.ts";

/** Longest waits, in milliseconds. */
export type WaitTimeouts = Values<typeof timeoutOptions>;

const usualWait = 180_000;

/**
 * How long creating or changing an object may take until it is ready; undefined where nothing is awaited. Pulumi's
 * default is 10 minutes; that a pod cannot start is known much earlier.
 */
export function customTimeoutsOf(object: KubernetesObject, timeouts: WaitTimeouts): pulumi.CustomTimeouts | undefined {
  const longest = longestWait(object, timeouts);
  if (longest === undefined) return undefined;
  const text = `${Math.ceil(longest / 1_000)}s`;
  return { create: text, update: text };
}

/** The same in milliseconds. */
export function longestWait(object: KubernetesObject, timeouts: WaitTimeouts): number | undefined {
  switch (object.kind) {
    case "Deployment":
      return timeouts.deployments;
    case "StatefulSet":
      return timeouts.broker;
    case "Ingress":
      return timeouts.loadBalancer;
    case "Service":
      return isBalanced(object) ? timeouts.loadBalancer : timeouts.deployments;
    default:
      return isGated(object) ? timeouts.deployments : undefined;
  }
}

/** The longer of the two timeouts, in milliseconds: whether an object is created or changed is not known. */
export function millisecondsOf({ create, update }: pulumi.CustomTimeouts): number {
  const stated = [create, update].map((text) => parseDuration(text ?? "")).filter((each) => each !== undefined);
  return Math.max(...(stated.length === 0 ? [usualWait] : stated));
}

function isBalanced({ spec }: KubernetesObject): boolean {
  return typeof spec === "object" && spec !== null && "type" in spec && spec.type === "LoadBalancer";
}
