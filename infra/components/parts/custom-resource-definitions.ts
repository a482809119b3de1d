import type * as pulumi from "@pulumi/pulumi";

import { customResourceDefinitions } from "../../manifests/definitions/custom-resource-definitions.ts";
import type { KubernetesObject } from "../../manifests/kubernetes-object.ts";
import { Part } from "./part.ts";

/**
 * The definitions of the custom resources. They stay when the stack goes: with them all functions of the cluster would
 * go. A stack that finds them there takes them over.
 */
export class CustomResourceDefinitions extends Part {
  constructor(
    name: string,
    args: { readonly provider: pulumi.ProviderResource },
    options: pulumi.ComponentResourceOptions,
  ) {
    const objects = customResourceDefinitions() as KubernetesObject[];
    super("CustomResourceDefinitions", name, { objects, options: { ...args, retainOnDelete: true } }, options);
  }
}
