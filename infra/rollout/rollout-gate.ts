import * as pulumi from "@pulumi/pulumi";

import type { ClusterArgs } from "../cluster.ts";
import type { OpenObject } from "../open-texts.ts";
import { awaitRollout } from "./await-rollout.ts";
import { lookAt } from "./cluster-look.ts";

/**
 * What comes after a workload: the resource itself, once the cluster says that all its pods are of the wanted version
 * and available. `within` is in milliseconds.
 */
export type RolloutGate = (
  resource: pulumi.CustomResource,
  wanted: OpenObject,
  within: number,
) => pulumi.Input<pulumi.Resource>;

/**
 * Gates that ask the cluster at each `pulumi up`, also where Pulumi changes nothing: its state may not be true, and its
 * provider may take a workload for ready that it has not seen changed.
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
