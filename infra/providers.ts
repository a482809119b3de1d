import { Provider as Kubernetes } from "@pulumi/kubernetes/provider.js";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as tls from "@pulumi/tls";

import type { ClusterArgs } from "./cluster.ts";
import { rolloutGate, type RolloutGate } from "./rollout/rollout-gate.ts";

/** Who makes the resources; no resource is left to a default provider, which goes wherever kubectl points. */
export interface Providers {
  readonly kubernetes: Kubernetes;
  /** Of the custom resource definitions: they outlive the stack, and the next one finds them there. */
  readonly definitions: Kubernetes;
  readonly random: random.Provider;
  readonly tls: tls.Provider;
  /** What each part passes before the next one begins; where it is absent, the providers' word is all. */
  readonly gate?: RolloutGate | undefined;
}

/** The providers of a platform called `name`. */
export function makeProviders(name: string, { kubeconfig, context }: ClusterArgs): Providers {
  const cluster = {
    ...(kubeconfig === undefined ? {} : { kubeconfig: pulumi.secret(kubeconfig) }),
    ...(context === undefined ? {} : { context }),
    enableServerSideApply: true,
  };
  return {
    // What changes in place is read by pods that a checksum restarts; replaced, it would be missing for a while.
    kubernetes: new Kubernetes(name, { ...cluster, enableConfigMapMutable: true, enableSecretMutable: true }),
    definitions: new Kubernetes(`${name}-definitions`, {
      ...cluster,
      upsertExistingObjects: true,
      enablePatchForce: true,
    }),
    random: new random.Provider(name),
    tls: new tls.Provider(name),
    gate: rolloutGate({ kubeconfig, context }),
  };
}
