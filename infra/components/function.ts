import { CustomResource } from "@pulumi/kubernetes/apiextensions/customResource.js";
import * as pulumi from "@pulumi/pulumi";

import { customResources } from "../../runtime/api/resources/custom-resources.ts";
import type { FunctionSpec } from "../../runtime/api/resources/function-resource.ts";
import { dependenciesOf, gateFor, namespaceOf, onPlatform, type NamespacedArgs } from "./cluster-args.ts";
import { millisecondsOf } from "./wait-timeouts.ts";

/** The fields of a Function object, without replicas, which belong to whatever scales it: see its labels. */
export interface FunctionArgs extends NamespacedArgs {
  /** Name of the function; that of the resource when absent. */
  readonly functionName?: string | undefined;
  readonly image: pulumi.Input<FunctionSpec["image"]>;
  /** Command that serves the function; that of the image when absent. */
  readonly handler?: Field<"handler">;
  readonly environment?: Entries<"environment">;
  readonly labels?: Entries<"labels">;
  readonly annotations?: Entries<"annotations">;
  /** Names of secrets of its namespace, such as `secretName` of a `FunctionSecret`. */
  readonly secrets?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  readonly constraints?: Field<"constraints">;
  readonly limits?: Field<"limits">;
  readonly requests?: Field<"requests">;
  readonly readOnlyRootFilesystem?: Field<"readOnlyRootFilesystem">;
  /**
   * Whether `pulumi up` waits until the change is out, for 3 minutes or the options' `customTimeouts`, and fails as soon
   * as the function is stalled; true when absent.
   */
  readonly awaitReady?: boolean | undefined;
}

type Field<K extends keyof FunctionSpec> = pulumi.Input<NonNullable<FunctionSpec[K]>> | undefined;
type Entries<K extends "environment" | "labels" | "annotations"> =
  | pulumi.Input<Readonly<Record<keyof NonNullable<FunctionSpec[K]>, pulumi.Input<string>>>>
  | undefined;

const { group, version, kind } = customResources.function;

/** For the provider's own waiting, where no gate can query the cluster. */
const settled = JSON.stringify(["condition=Ready", "condition=Reconciling=False"]);
const usualTimeouts: pulumi.CustomTimeouts = { create: "3m", update: "3m" };

/** A function, deployed as a Function object. */
export class Function extends pulumi.ComponentResource {
  readonly functionName: pulumi.Output<string>;
  readonly namespace: pulumi.Output<string>;
  /** Path below the gateway: `/function/…`. */
  readonly path: pulumi.Output<string>;

  constructor(name: string, args: FunctionArgs, options: pulumi.ComponentResourceOptions = {}) {
    const placed = onPlatform(args, options);
    super("weir:functions:Function", name, {}, placed);
    const { platform: _platform, namespace: _namespace, functionName = name, awaitReady = true, ...spec } = args;
    const gate = awaitReady ? gateFor(args, options) : undefined;
    const waits = awaitReady && gate === undefined;
    const wanted = {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: {
        name: functionName,
        namespace: namespaceOf(args),
        ...(waits ? { annotations: { "pulumi.com/waitFor": settled } } : {}),
      },
      spec,
    };
    const customTimeouts = options.customTimeouts ?? usualTimeouts;
    const object = new CustomResource(name, wanted, {
      parent: this,
      dependsOn: dependenciesOf(placed),
      customTimeouts,
    });
    // Known only once the function is there as wanted, so that resources that call it come after it.
    const done = gate?.(object, wanted, millisecondsOf(customTimeouts)) ?? object.metadata;
    this.functionName = pulumi.output(done).apply(() => functionName);
    this.namespace = pulumi.output(namespaceOf(args));
    this.path = pulumi.interpolate`/function/${this.functionName}.${this.namespace}`;
    this.registerOutputs({ functionName: this.functionName, namespace: this.namespace, path: this.path });
  }
}
