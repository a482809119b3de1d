import * as pulumi from "@pulumi/pulumi";

import { isMapping } from "../../../runtime/settings/mapping.ts";
import type { KubernetesObject } from "../../manifests/kubernetes-object.ts";
import type { Platform } from "../../manifests/platform.ts";
import { withCommonLabels } from "../../manifests/pods.ts";
import type { OpenObject, OpenTexts } from "../../open-texts.ts";
import type { RolloutGate } from "../../rollout/rollout-gate.ts";
import { dependenciesOf } from "../cluster-args.ts";
import { withPodAnnotations, type PodAnnotations } from "../pod-annotations.ts";
import { makeResource } from "../resource-kinds.ts";
import { isGated, stageOf } from "../stages.ts";
import { customTimeoutsOf, longestWait, type WaitTimeouts } from "../wait-timeouts.ts";

/** Arguments of a part of the platform. */
export interface PartArgs {
  readonly objects: readonly KubernetesObject[];
  /** The platform that they belong to, if they belong to one alone. */
  readonly platform?: Platform | undefined;
  /** Annotations of its pods: when one changes, they are restarted. */
  readonly podAnnotations?: PodAnnotations | undefined;
  /** Absent if nothing in it is waited for. */
  readonly timeouts?: WaitTimeouts | undefined;
  /** The gate that its workloads pass before dependent resources; none when absent. */
  readonly gate?: RolloutGate | undefined;
  readonly fillObject?: OpenTexts["fillObject"] | undefined;
  /** Whether the objects whose deletion would delete volumes are protected. */
  readonly protect?: boolean | undefined;
  readonly options?: pulumi.CustomResourceOptions;
}

/** Kinds of objects whose deletion deletes volumes, or could. */
const holdsVolumes: readonly string[] = ["StatefulSet", "PersistentVolumeClaim", "Namespace"];
/** A claim of another class would be another claim, without what is on the disk. */
const lasting: Readonly<Record<string, readonly string[]>> = { PersistentVolumeClaim: ["spec.storageClassName"] };

/** One part of the platform: its objects are its children, in the order of their dependencies. */
export abstract class Part extends pulumi.ComponentResource {
  /** The children, by kind and name. */
  protected readonly resources: ReadonlyMap<string, pulumi.CustomResource>;
  /** What dependents wait for: the part, and its gates, which confirm that all pods are of the desired version. */
  readonly done: readonly pulumi.Input<pulumi.Resource>[];

  constructor(type: string, name: string, args: PartArgs, options: pulumi.ComponentResourceOptions = {}) {
    super(`weir:platform:${type}`, name, {}, options);
    const { platform, podAnnotations = {} } = args;
    const objects = args.objects
      .map((object) => (platform === undefined ? object : withCommonLabels(platform, object)))
      .map((object) => withPodAnnotations(object, podAnnotations));
    const resources = new Map<string, pulumi.CustomResource>();
    const before: pulumi.Input<pulumi.Resource>[] = [];
    const gates: pulumi.Input<pulumi.Resource>[] = [];
    for (const stage of [...new Set(objects.map(stageOf))].toSorted((a, b) => a - b)) {
      // A component's own dependencies order its creation, but not the removal of its children.
      const dependsOn = [...dependenciesOf(options), ...before];
      for (const object of objects.filter((each) => stageOf(each) === stage)) {
        const { kind, metadata } = object;
        const customTimeouts = args.timeouts && customTimeoutsOf(object, args.timeouts);
        const filled = args.fillObject?.(object) ?? object;
        const isAwaited = args.gate !== undefined && args.timeouts !== undefined && isGated(object);
        const child = makeResource(`${name}-${metadata.name}`, isAwaited ? leftToGate(filled) : filled, {
          parent: this,
          dependsOn,
          ...(customTimeouts !== undefined && { customTimeouts }),
          ...(args.protect !== undefined && holdsVolumes.includes(kind) && { protect: args.protect }),
          ...ignoredOf(object),
          ...args.options,
        });
        resources.set(`${kind} ${metadata.name}`, child);
        before.push(child);
        if (args.gate === undefined || args.timeouts === undefined || !isAwaited) continue;
        const passed = args.gate(child, filled, longestWait(object, args.timeouts) ?? 0);
        gates.push(passed);
        before.push(passed);
      }
    }
    this.resources = resources;
    this.done = [this, ...gates];
    // This makes pulumi up fail even for a gate that nothing depends on.
    this.registerOutputs({ gates: pulumi.output(gates).apply((passed) => passed.length) });
  }
}

/** What of an object the cluster decides: a count that an autoscaler sets would go back to one, if it were removed. */
function ignoredOf({ kind, spec }: KubernetesObject): { readonly ignoreChanges?: string[] } {
  const isAutoscaled = kind === "Deployment" && isMapping(spec) && spec["replicas"] === undefined;
  const ignored = isAutoscaled ? ["spec.replicas"] : lasting[kind];
  return ignored === undefined ? {} : { ignoreChanges: [...ignored] };
}

/**
 * A Deployment that the provider considers ready once it makes pods: the gate waits for them, and, unlike the provider,
 * stops when an image cannot be pulled.
 */
function leftToGate(object: OpenObject): OpenObject {
  if (object.kind !== "Deployment") return object;
  const { metadata } = object;
  const annotations = { ...metadata.annotations, "pulumi.com/waitFor": "condition=Progressing" };
  return { ...object, metadata: { ...metadata, annotations } };
}
