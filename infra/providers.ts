import { Provider as Kubernetes } from "@pulumi/kubernetes/provider.js";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as tls from "@pulumi/tls";

import type { ClusterArgs } from "./cluster.ts";

/** Providers of the resources; none is left to a default provider, which uses whatever cluster kubectl points to. */
export interface Providers {
  readonly kubernetes: pulumi.ProviderResource;
  /** For the custom resource definitions: they outlive the stack, so the next one finds existing ones. */
  readonly definitions: pulumi.ProviderResource;
  readonly random: pulumi.ProviderResource;
  readonly tls: pulumi.ProviderResource;
  /** The target cluster. */
  readonly cluster: ClusterArgs;
}

/**
 * The providers of a platform called `name`: those from its options or its parent, else its own.
 * @throws RunError when both arguments and a provider name the cluster
 */
export function providersOf(
  name: string,
  { kubeconfig, context, forceConflicts }: ClusterArgs & { readonly forceConflicts?: boolean | undefined },
  options: pulumi.ComponentResourceOptions,
): Providers {
  const kubernetes = givenProvider("kubernetes", options);
  const twice = kubernetes === undefined ? [] : Object.entries({ kubeconfig, context }).filter(isNamed);
  if (twice.length > 0) {
    const because = "expected none with a provider for Kubernetes, which says which cluster is meant";
    const problems = twice.map(([key]) => `${key}: ${because}`);
    throw new pulumi.RunError([`Cannot make platform "${name}":`, ...problems].join("\n  "));
  }
  const cluster = {
    kubeconfig: kubeconfig ?? settingOf(kubernetes, "kubeconfig"),
    context: context ?? settingOf(kubernetes, "context"),
  };
  const access = {
    ...(cluster.kubeconfig === undefined ? {} : { kubeconfig: pulumi.secret(cluster.kubeconfig) }),
    ...(cluster.context === undefined ? {} : { context: cluster.context }),
    enableServerSideApply: true,
  };
  return {
    cluster,
    // Changed in place: pods that read it are restarted by a checksum. If replaced, it would be missing for a while.
    kubernetes:
      kubernetes ??
      new Kubernetes(name, {
        ...access,
        enableConfigMapMutable: true,
        enableSecretMutable: true,
        ...(forceConflicts === true && { enablePatchForce: true }),
      }),
    definitions: new Kubernetes(`${name}-definitions`, {
      ...access,
      upsertExistingObjects: true,
      enablePatchForce: true,
    }),
    random: givenProvider("random", options) ?? new random.Provider(name),
    tls: givenProvider("tls", options) ?? new tls.Provider(name),
  };
}

/** The cluster of a provider for Kubernetes that the options or the parent have; undefined when they have none. */
export function clusterOf(options: pulumi.ComponentResourceOptions): ClusterArgs | undefined {
  const provider = givenProvider("kubernetes", options);
  return provider && { kubeconfig: settingOf(provider, "kubeconfig"), context: settingOf(provider, "context") };
}

function isNamed([, value]: readonly [string, unknown]): boolean {
  return value !== undefined && value !== "";
}

const isOf: Readonly<Record<"kubernetes" | "random" | "tls", (value: unknown) => boolean>> = {
  kubernetes: (value) => Kubernetes.isInstance(value),
  random: (value) => random.Provider.isInstance(value),
  tls: (value) => tls.Provider.isInstance(value),
};

function givenProvider(
  name: keyof typeof isOf,
  { provider, providers = [], parent }: pulumi.ComponentResourceOptions,
): pulumi.ProviderResource | undefined {
  const given = [...(provider === undefined ? [] : [provider]), ...Object.values(providers)];
  return given.find((each) => isOf[name](each)) ?? parent?.getProvider(`${name}:index:Any`);
}

/** An argument of a provider: it is also an output, though the class does not declare it. */
function settingOf(
  provider: pulumi.ProviderResource | undefined,
  setting: keyof ClusterArgs,
): pulumi.Output<string> | undefined {
  const value = new Map<string, unknown>(Object.entries(provider ?? {})).get(setting);
  return pulumi.Output.isInstance<string>(value) ? value : undefined;
}
