import { expect, test } from "vitest";

import { decideConflicts } from "../../../../infra/conflicts/decide-conflicts.ts";

const container = { name: "gateway", image: "weir:2", ports: [{ containerPort: 8080 }], resources: { cpu: "0.5" } };
const template = { metadata: { annotations: { "weir/checksum": "a" } }, spec: { containers: [container] } };
const wanted = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "gateway", namespace: "weir" },
  spec: { replicas: 2, template },
};

/** The object as it is in the cluster, after `manager` set these fields. */
function live(manager: string, fieldsV1: object, { spec = {}, image = "weir:2", subresource = "" } = {}) {
  const containers = [{ ...container, image, resources: { cpu: "500m" } }];
  return {
    metadata: { managedFields: [{ manager, operation: "Update", subresource, fieldsV1 }] },
    spec: { replicas: 2, template: { ...template, spec: { containers } }, ...spec },
  };
}
const scaled = { "f:spec": { "f:replicas": {} } };
const ofContainer = (fields: object) => ({
  "f:spec": { "f:template": { "f:spec": { "f:containers": { 'k:{"name":"gateway"}': fields } } } },
});

test("a count of replicas that a hand set is a conflict, with who set it and what it is", () => {
  const found = decideConflicts(wanted, live("kubectl", scaled, { spec: { replicas: 5 }, subresource: "scale" }));
  expect(found).toEqual([
    { object: 'Deployment "gateway"', namespace: "weir", field: "spec.replicas", manager: "kubectl", live: 5 },
  ]);
});

test("fields below the items of lists are found, with their path", () => {
  const fields = ofContainer({ "f:image": {}, "f:resources": { "f:cpu": {} } });
  expect(decideConflicts(wanted, live("kubectl-set", fields, { image: "weir:hand" }))).toMatchObject([
    { field: 'spec.template.spec.containers[{"name":"gateway"}].image', live: "weir:hand" },
  ]);
});

test.each([
  ["the provider itself", live("pulumi-kubernetes-1a2b3c4d", scaled, { spec: { replicas: 5 } })],
  ["the same value", live("kubectl", scaled)],
  ["the status", live("kube-controller-manager", scaled, { spec: { replicas: 5 }, subresource: "status" })],
  ["an addition", live("kubectl", { "f:spec": { "f:paused": {} } }, { spec: { paused: true } })],
  ["an amount that is written otherwise", live("kubectl", ofContainer({ "f:resources": { "f:cpu": {} } }))],
  ["an item of a list that is not wanted", live("mesh", { "f:spec": { "f:x": { 'k:{"name":"mesh"}': { ".": {} } } } })],
])("no conflict: %s", (_, found) => {
  expect(decideConflicts(wanted, found)).toEqual([]);
});

test("a text that becomes known later is left to the API server", () => {
  const found = live("kubectl", ofContainer({ "f:image": {} }), { image: "weir:hand" });
  expect(decideConflicts(wanted, found, (text) => text === "weir:2")).toEqual([]);
});
