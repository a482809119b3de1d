import type * as pulumi from "@pulumi/pulumi";

import { defaultFunctionNamespace } from "../manifests/platform-options.ts";
import { clusterOf } from "../providers.ts";
import { rolloutGate, type RolloutGate } from "../rollout/rollout-gate.ts";

/** What functions need from the platform of the same program. */
export interface PlatformBelow {
  readonly platformNamespace: string;
  readonly functionNamespace: string;
  /** Whether the edition has several namespaces of functions. */
  readonly manyNamespaces: boolean;
  /** Whether the edition has identity and access. */
  readonly hasIam: boolean;
  /** Provider of the cluster. */
  readonly kubernetes: pulumi.ProviderResource;
  /** Parts that are created before functions and deleted after them. */
  readonly parts: readonly pulumi.Input<pulumi.Resource>[];
  /** What functions and rules pass before others come after them; none when nothing queries the cluster. */
  readonly gate?: RolloutGate | undefined;
}

/** The platform and namespace of a function, or of something it uses. */
export interface NamespacedArgs {
  /** The platform of the same program: it is created first and determines the cluster. Absent if it exists already. */
  readonly platform?: PlatformBelow | undefined;
  /** The platform's default namespace of functions when absent. */
  readonly namespace?: pulumi.Input<string> | undefined;
}

/** The namespace of the arguments, or its default. */
export function namespaceOf({ platform, namespace }: NamespacedArgs): pulumi.Input<string> {
  return namespace ?? platform?.functionNamespace ?? defaultFunctionNamespace;
}

/** Options of a component on a platform: with the platform's provider, after its parts. */
export function onPlatform(
  { platform }: Pick<NamespacedArgs, "platform">,
  options: pulumi.ComponentResourceOptions,
): pulumi.ComponentResourceOptions {
  if (platform === undefined) return options;
  return {
    providers: { kubernetes: platform.kubernetes },
    ...options,
    dependsOn: [...dependenciesOf(options), ...platform.parts],
  };
}

/** The resources that must exist first. */
export function dependenciesOf({ dependsOn }: pulumi.ResourceOptions): pulumi.Input<pulumi.Resource>[] {
  if (dependsOn === undefined) return [];
  return Array.isArray(dependsOn) ? dependsOn : [dependsOn as pulumi.Input<pulumi.Resource>];
}

/** The gate of an object: that of its platform, else one for the cluster of its provider; none of a default provider. */
export function gateFor(
  { platform }: Pick<NamespacedArgs, "platform">,
  options: pulumi.ComponentResourceOptions,
): RolloutGate | undefined {
  if (platform !== undefined) return platform.gate;
  const cluster = clusterOf(options);
  return cluster && rolloutGate(cluster);
}
