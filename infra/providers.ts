import { Provider as Kubernetes } from "@pulumi/kubernetes/provider.js";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as tls from "@pulumi/tls";

import type { ClusterArgs } from "./cluster.ts";

/** Who makes the resources; no resource is left to a default provider, which goes wherever kubectl points. */
export interface Providers {
  readonly kubernetes: pulumi.ProviderResource;
  /** Of the custom resource definitions: they outlive the stack, and the next one finds them there. */
  readonly definitions: pulumi.ProviderResource;
  readonly random: pulumi.ProviderResource;
  readonly tls: pulumi.ProviderResource;
  /** Which cluster all that goes to. */
  readonly cluster: ClusterArgs;
}

/**
 * The providers of a platform called `name`: those that its options name, or its parent has, and else its own.
 * @throws RunError when arguments and a provider both say which cluster is meant
 */
export function providersOf(
  name: string,
  { kubeconfig, context }: ClusterArgs,
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
    // What changes in place is read by pods that a checksum restarts; replaced, it would be missing for a while.
    kubernetes:
      kubernetes ?? new Kubernetes(name, { ...access, enableConfigMapMutable: true, enableSecretMutable: true }),
    definitions: new Kubernetes(`${name}-definitions`, {
      ...access,
      upsertExistingObjects: true,
      enablePatchForce: true,
    }),
    random: givenProvider("random", options) ?? new random.Provider(name),
    tls: givenProvider("tls", options) ?? new tls.Provider(name),
  };
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

/** What a provider was made with: each is an output of it, though its class declares none. */
function settingOf(
  provider: pulumi.ProviderResource | undefined,
  setting: keyof ClusterArgs,
): pulumi.Output<string> | undefined {
  const value = new Map<string, unknown>(Object.entries(provider ?? {})).get(setting);
  return pulumi.Output.isInstance<string>(value) ? value : undefined;
}
