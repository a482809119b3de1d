import { expect, test } from "vitest";

import type { OwnedFields } from "../../../../../runtime/adapters/kubernetes/client/kube-types.ts";
import { externalScaler } from "../../../../../runtime/adapters/kubernetes/manifests/external-scaler.ts";
import { desiredOf, functionObjectOf } from "../../../../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { plain } from "../function-samples.ts";

const count = { "f:spec": { "f:replicas": {} } };

test.each<[who: string, scaler: string | undefined, entry: OwnedFields]>([
  [
    "a HorizontalPodAutoscaler",
    "kube-controller-manager",
    { manager: "kube-controller-manager", operation: "Update", subresource: "scale", fieldsV1: count },
  ],
  ["KEDA", "keda", { manager: "keda", operation: "Update", subresource: "scale", fieldsV1: count }],
  ["a file of Flux", "kustomize-controller", { manager: "kustomize-controller", operation: "Apply", fieldsV1: count }],
  ["a file of kubectl, by the server", "kubectl", { manager: "kubectl", operation: "Apply", fieldsV1: count }],
  [
    "a file of kubectl",
    "kubectl-client-side-apply",
    { manager: "kubectl-client-side-apply", operation: "Update", fieldsV1: count },
  ],
  ["kubectl scale", undefined, { manager: "kubectl", operation: "Update", subresource: "scale", fieldsV1: count }],
  ["kubectl edit", undefined, { manager: "kubectl-edit", operation: "Update", fieldsV1: count }],
  ["the gateway", undefined, { manager: "weir-gateway", operation: "Update", fieldsV1: count }],
  [
    "the autoscaler",
    undefined,
    { manager: "weir-autoscaler", operation: "Update", subresource: "scale", fieldsV1: count },
  ],
  [
    "who owns other fields",
    undefined,
    { manager: "argocd-controller", operation: "Apply", fieldsV1: { "f:spec": { "f:image": {} } } },
  ],
  [
    "who owns a status",
    undefined,
    { manager: "x", operation: "Update", fieldsV1: { "f:status": { "f:replicas": {} } } },
  ],
  ["an entry without a name", undefined, { operation: "Update", fieldsV1: count }],
])("%s", (_who, scaler, entry) => {
  const other: OwnedFields = { manager: "other", operation: "Apply", fieldsV1: { "f:metadata": {} } };
  expect(externalScaler({ managedFields: [other, entry] })).toBe(scaler);
  const object = functionObjectOf(plain);
  const desired = desiredOf({ ...object, metadata: { ...object.metadata, managedFields: [other, entry] } });
  expect(desired.externalScaler).toBe(scaler);
});

test("without entries only Weir scales", () => {
  expect(externalScaler({})).toBeUndefined();
});
