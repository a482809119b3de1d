import * as pulumi from "@pulumi/pulumi";

import { isMapping } from "../../runtime/settings/mapping.ts";
import type { ClusterArgs } from "../cluster.ts";
import type { KubernetesObject } from "../manifests/kubernetes-object.ts";
import type { OpenObject } from "../open-texts.ts";
import { awaitRollout } from "./await-rollout.ts";
import { lookAt, lookAtPods } from "./cluster-look.ts";
import { at } from "./decide-rollout.ts";

/**
 * What dependents of an object wait for: the resource itself, once the cluster reports that its last change is out: all
 * pods of a workload are of the desired version and available, a Function is settled. `within` is in milliseconds.
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
    return pulumi.all([kubeconfig, context, wanted, resource.id]).apply(async ([file, name, known]) => {
      const object: KubernetesObject = known;
      const cluster = { kubeconfig: file, context: name };
      await awaitRollout(object, {
        look: () => lookAt(cluster, object),
        lookAtPods: (live) => {
          const labels = at(live, "spec.selector.matchLabels");
          return isMapping(labels) ? lookAtPods(cluster, object.metadata.namespace, labels) : Promise.resolve([]);
        },
        within,
      }).catch((err: unknown) => {
        throw new pulumi.RunError(err instanceof Error ? err.message : String(err));
      });
      return resource;
    });
  };
}
