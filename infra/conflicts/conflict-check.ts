import * as pulumi from "@pulumi/pulumi";

import type { ClusterArgs } from "../cluster.ts";
import type { KubernetesObject } from "../manifests/kubernetes-object.ts";
import type { OpenObject } from "../open-texts.ts";
import { lookAtAll, type KnownCluster } from "../rollout/cluster-look.ts";
import { decideConflicts, type FieldConflict } from "./decide-conflicts.ts";

/** What is known, before the first write, of fields that others set. */
export interface ConflictCheck {
  /** Resolves when nothing is in the way of any object; a preview does not wait for it. */
  readonly passed: pulumi.Output<unknown>;
  /** The object without a count of replicas that somebody else set. */
  withoutOthersReplicas(object: OpenObject): OpenObject;
}

const replicas = "spec.replicas";

/**
 * Reads all objects of the platform that exist. Server-side apply would refuse one after the others were changed, so the
 * program fails before the first write instead. Counts of replicas are left to a hand or an autoscaler that set them.
 */
export function checkConflicts(
  objects: readonly KubernetesObject[],
  { kubeconfig, context }: ClusterArgs,
  open: (text: string) => boolean,
): ConflictCheck {
  const found = pulumi
    .all([kubeconfig, context])
    .apply(([file, name]) => conflictsIn(objects, { kubeconfig: file, context: name }, open));
  const left = found.apply((conflicts) => conflicts.filter(({ field }) => field === replicas));
  return {
    passed: found.apply(async (conflicts) => {
      const others = conflicts.filter(({ field }) => field !== replicas);
      if (others.length > 0) throw new pulumi.RunError(sentenceOf(others));
      for (const conflict of conflicts) await pulumi.log.warn(warningOf(conflict));
    }),
    withoutOthersReplicas: (object) => {
      const { kind, metadata, spec } = object;
      if (kind !== "Deployment") return object;
      const isLeft = left.apply((all) => all.some(({ object: of }) => of === `${kind} "${metadata.name}"`));
      const kept = pulumi.all([isLeft, spec]).apply(([isOthers, known]) => {
        const { replicas: count, ...rest } = known as Readonly<Record<string, unknown>>;
        return isOthers || count === undefined ? rest : { ...rest, replicas: count };
      });
      return { ...object, spec: kept };
    },
  };
}

/** All conflicts of the objects that exist. A preview asks a cluster that is named, and goes on if it does not reply. */
async function conflictsIn(
  objects: readonly KubernetesObject[],
  cluster: KnownCluster,
  open: (text: string) => boolean,
): Promise<readonly FieldConflict[]> {
  if (pulumi.runtime.isDryRun() && cluster.kubeconfig === undefined && cluster.context === undefined) return [];
  try {
    const live = await lookAtAll(cluster, objects);
    return objects.flatMap((wanted) => {
      const found = live.get(wanted);
      return found === undefined ? [] : decideConflicts(wanted, found, open);
    });
  } catch (err) {
    const because = err instanceof Error ? err.message : String(err);
    const sentence = `Cannot check whether others changed objects of the platform: ${because}`;
    if (!pulumi.runtime.isDryRun()) throw new pulumi.RunError(sentence);
    await pulumi.log.warn(sentence);
    return [];
  }
}

function sentenceOf(conflicts: readonly FieldConflict[]): string {
  const lines = conflicts.map(
    ({ object, namespace, field, manager, live }) =>
      `${object} in "${namespace}": conflict with "${manager}", who set ${field} to ${JSON.stringify(live) ?? "nothing"}`,
  );
  const remedy =
    "Nothing was changed. Undo it there, or take the fields over: pulumi config set weir:forceConflicts true, pulumi up --refresh";
  return ["Cannot change the platform, because others changed its objects:", ...lines, remedy].join("\n  ");
}

function warningOf({ object, namespace, manager, live }: FieldConflict): string {
  return `${object} in "${namespace}" keeps ${String(live)} replicas, which "${manager}" set; weir:forceConflicts takes the count over`;
}
