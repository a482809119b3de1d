import type * as pulumi from "@pulumi/pulumi";

import { customResourceDefinitions } from "../../manifests/definitions/custom-resource-definitions.ts";
import type { KubernetesObject } from "../../manifests/kubernetes-object.ts";
import { Part } from "./part.ts";

/**
 * The definitions of the custom resources. They are kept when the stack is destroyed, because deleting them would
 * delete all functions of the cluster. A stack adopts existing ones.
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
