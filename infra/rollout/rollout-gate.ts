import * as pulumi from "@pulumi/pulumi";

import type { ClusterArgs } from "../cluster.ts";
import type { OpenObject } from "../open-texts.ts";
import { awaitRollout } from "./await-rollout.ts";
import { lookAt } from "./cluster-look.ts";

/**
 * What dependents of a workload wait for: the resource itself, once the cluster reports that all its pods are of the
 * desired version and available. `within` is in milliseconds.
 */
export type RolloutGate = (
  resource: pulumi.CustomResource,
  wanted: OpenObject,
  within: number,
) => pulumi.Input<pulumi.Resource>;

/**
 * Gates that query the cluster at each `pulumi up`, even if Pulumi changes nothing: its state may be out of date, and
 * its provider may consider a workload ready before it has seen the change.
 */
export function rolloutGate({ kubeconfig, context }: ClusterArgs): RolloutGate {
  return (resource, wanted, within) => {
    if (pulumi.runtime.isDryRun()) return resource;
    const { apiVersion, kind, metadata, ...fields } = wanted;
    return pulumi.all([kubeconfig, context, fields, resource.id]).apply(async ([file, name, known]) => {
      const object = { ...known, apiVersion, kind, metadata };
      const look = () => lookAt({ kubeconfig: file, context: name }, object);
      await awaitRollout(object, { look, within }).catch((err: unknown) => {
        throw new pulumi.RunError(err instanceof Error ? err.message : String(err));
      });
      return resource;
    });
  };
}
