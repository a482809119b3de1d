import type * as pulumi from "@pulumi/pulumi";

/** The target cluster. With a provider for Kubernetes, both are absent. */
export interface ClusterArgs {
  /** Path or content; that of kubectl when absent. */
  readonly kubeconfig?: pulumi.Input<string> | undefined;
  /** The current one when absent. */
  readonly context?: pulumi.Input<string> | undefined;
}
