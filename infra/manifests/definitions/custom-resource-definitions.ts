import { customResources, type CustomResource } from "../../../runtime/api/resources/custom-resources.ts";
import { structuralSchema, type PlainObject } from "./structural-schema.ts";

/** Name of the definition in the cluster. */
export function definitionName({ plural, group }: Pick<CustomResource, "plural" | "group">): string {
  return `${plural}.${group}`;
}

/** The definitions of all six kinds. */
export function customResourceDefinitions(): PlainObject[] {
  return Object.values<CustomResource>(customResources).map(customResourceDefinition);
}

/** The definition by which the Kubernetes API server stores and validates objects of a kind. */
export function customResourceDefinition(resource: CustomResource): PlainObject {
  const { group, version, kind, plural, singular, shortNames, scales, columns } = resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: definitionName(resource), labels: { "app.kubernetes.io/part-of": "weir" } },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames.length === 0 ? {} : { shortNames }),
        categories: ["weir"],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns.map((column) => ({ ...column })),
          subresources: { status: {}, ...(scales ? { scale: scalePaths } : {}) },
          schema: { openAPIV3Schema: objectSchema(resource) },
        },
      ],
    },
  };
}

const scalePaths = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.selector",
};

function objectSchema({ about, spec, status, names, rules }: CustomResource): PlainObject {
  return {
    type: "object",
    description: about,
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: {
        type: "object",
        ...(names === undefined ? {} : { properties: { name: { type: "string", ...names } } }),
      },
      spec: structuralSchema(spec, "spec"),
      status: structuralSchema(status, "status"),
    },
    ...(rules.length === 0 ? {} : { "x-kubernetes-validations": rules.map((rule) => ({ ...rule })) }),
  };
}
