import type * as pulumi from "@pulumi/pulumi";

import type { KubernetesObject } from "../manifests/kubernetes-object.ts";

/** Values may come from other resources. */
export type PodAnnotations = Readonly<Record<string, pulumi.Input<string>>>;

interface Template {
  readonly metadata?: { readonly annotations?: PodAnnotations };
}

/** The object; if it creates pods, with these annotations added to them. */
export function withPodAnnotations(object: KubernetesObject, added: PodAnnotations): KubernetesObject {
  const { spec } = object;
  if (Object.keys(added).length === 0 || !makesPods(spec)) return object;
  const { template } = spec;
  const annotations = { ...template.metadata?.annotations, ...added };
  return { ...object, spec: { ...spec, template: { ...template, metadata: { ...template.metadata, annotations } } } };
}

function makesPods(spec: unknown): spec is { readonly template: Template } {
  return typeof spec === "object" && spec !== null && "template" in spec;
}
