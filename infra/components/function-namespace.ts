import { Namespace } from "@pulumi/kubernetes/core/v1/namespace.js";
import * as pulumi from "@pulumi/pulumi";

import { namespaceMarker } from "../../runtime/api/names.ts";
import { restricted } from "../manifests/namespaces.ts";
import { dependenciesOf, onPlatform, type PlatformBelow } from "./cluster-args.ts";

/** A further namespace of functions: editions pro and enterprise have several. */
export interface FunctionNamespaceArgs {
  readonly platform?: PlatformBelow | undefined;
  /** Name of the namespace; that of the resource when absent. */
  readonly namespaceName?: string | undefined;
  readonly labels?: Readonly<Record<string, pulumi.Input<string>>> | undefined;
  readonly annotations?: Readonly<Record<string, pulumi.Input<string>>> | undefined;
}

/** A namespace with the marker: the operator gives it accounts, policies and a quota. */
export class FunctionNamespace extends pulumi.ComponentResource {
  /** For `namespace` of functions and secrets, which then depend on it. */
  readonly namespaceName: pulumi.Output<string>;

  constructor(name: string, args: FunctionNamespaceArgs = {}, options: pulumi.ComponentResourceOptions = {}) {
    const { platform, namespaceName = name, labels, annotations } = args;
    if (platform?.manyNamespaces === false)
      throw new pulumi.RunError(
        `Cannot make namespace "${namespaceName}": the platform's edition has one namespace; pro and enterprise have several`,
      );
    const placed = onPlatform(args, options);
    super("weir:functions:FunctionNamespace", name, {}, placed);
    const namespace = new Namespace(
      name,
      {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: {
          name: namespaceName,
          labels: { ...restricted, ...labels, [namespaceMarker.key]: namespaceMarker.value },
          ...(annotations === undefined ? {} : { annotations }),
        },
      },
      { parent: this, dependsOn: dependenciesOf(placed) },
    );
    this.namespaceName = namespace.metadata.name;
    this.registerOutputs({ namespaceName: this.namespaceName });
  }
}
