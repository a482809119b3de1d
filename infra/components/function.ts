import { CustomResource } from "@pulumi/kubernetes/apiextensions/customResource.js";
import * as pulumi from "@pulumi/pulumi";

import { customResources } from "../../runtime/api/resources/custom-resources.ts";
import type { FunctionSpec } from "../../runtime/api/resources/function-resource.ts";
import { dependenciesOf, namespaceOf, onPlatform, type NamespacedArgs } from "./cluster-args.ts";

/** What a function is: the fields of a Function object. Its replicas belong to who scales it: see its labels. */
export interface FunctionArgs extends NamespacedArgs {
  /** Name of the function; that of the resource when absent. */
  readonly functionName?: string | undefined;
  readonly image: pulumi.Input<FunctionSpec["image"]>;
  /** Command that is run for each call; that of the image when absent. */
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
  /** Whether `pulumi up` waits until it is ready; true when absent. */
  readonly awaitReady?: boolean | undefined;
}

type Field<K extends keyof FunctionSpec> = pulumi.Input<NonNullable<FunctionSpec[K]>> | undefined;
type Entries<K extends "environment" | "labels" | "annotations"> =
  | pulumi.Input<Readonly<Record<keyof NonNullable<FunctionSpec[K]>, pulumi.Input<string>>>>
  | undefined;

const { group, version, kind } = customResources.function;

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
    const object = new CustomResource(
      name,
      {
        apiVersion: `${group}/${version}`,
        kind,
        metadata: {
          name: functionName,
          namespace: namespaceOf(args),
          ...(awaitReady ? { annotations: { "pulumi.com/waitFor": "condition=Ready" } } : {}),
        },
        spec,
      },
      { parent: this, dependsOn: dependenciesOf(placed) },
    );
    // Known only once the function is there, for those who call it.
    this.functionName = object.metadata.apply(() => functionName);
    this.namespace = pulumi.output(namespaceOf(args));
    this.path = pulumi.interpolate`/function/${this.functionName}.${this.namespace}`;
    this.registerOutputs({ functionName: this.functionName, namespace: this.namespace, path: this.path });
  }
}
