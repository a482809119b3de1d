import * as pulumi from "@pulumi/pulumi";

import type { KubernetesObject } from "../manifests/kubernetes-object.ts";
import { dependenciesOf } from "./cluster-args.ts";
import { withPodAnnotations, type PodAnnotations } from "./pod-annotations.ts";
import { makeResource } from "./resource-kinds.ts";
import { stageOf } from "./stages.ts";
import { customTimeoutsOf, type WaitTimeouts } from "./wait-timeouts.ts";

/** What a part of the platform is made of. */
export interface PartArgs {
  readonly objects: readonly KubernetesObject[];
  /** Annotations of its pods: when one changes, they are restarted. */
  readonly podAnnotations?: PodAnnotations | undefined;
  /** None where nothing of it is waited for. */
  readonly timeouts?: WaitTimeouts | undefined;
  readonly options?: pulumi.CustomResourceOptions;
}

/** One part of the platform: its objects are its children, those that others of it need first. */
export abstract class Part extends pulumi.ComponentResource {
  /** The children, by kind and name. */
  protected readonly resources: ReadonlyMap<string, pulumi.CustomResource>;

  constructor(type: string, name: string, args: PartArgs, options: pulumi.ComponentResourceOptions = {}) {
    super(`weir:platform:${type}`, name, {}, options);
    const objects = args.objects.map((object) => withPodAnnotations(object, args.podAnnotations ?? {}));
    const resources = new Map<string, pulumi.CustomResource>();
    const before: pulumi.Resource[] = [];
    for (const stage of [...new Set(objects.map(stageOf))].toSorted((a, b) => a - b)) {
      // A component's own dependencies order its making, but not the removal of its children.
      const dependsOn = [...dependenciesOf(options), ...before];
      for (const object of objects.filter((each) => stageOf(each) === stage)) {
        const { kind, metadata } = object;
        const customTimeouts = args.timeouts && customTimeoutsOf(object, args.timeouts);
        const child = makeResource(`${name}-${metadata.name}`, object, {
          parent: this,
          dependsOn,
          ...(customTimeouts !== undefined && { customTimeouts }),
          ...args.options,
        });
        resources.set(`${kind} ${metadata.name}`, child);
        before.push(child);
      }
    }
    this.resources = resources;
    this.registerOutputs({});
  }
}
