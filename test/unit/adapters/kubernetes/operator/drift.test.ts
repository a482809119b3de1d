import { describe, expect, test } from "vitest";

import { asApplied } from "../../../../../runtime/adapters/kubernetes/operator/applied-fields.ts";
import { foreignFields } from "../../../../../runtime/adapters/kubernetes/operator/foreign-fields.ts";
import { withoutForeignItems } from "../../../../../runtime/adapters/kubernetes/operator/foreign-items.ts";

describe("withoutForeignItems", () => {
  const container = { name: "f", env: [{ name: "a", value: "1" }] };
  const wanted = { spec: { replicas: 1, template: { containers: [container], volumes: [{ name: "tmp" }] } } };
  const actual = (containers: readonly object[]) => ({
    spec: { replicas: 1, paused: true, template: { containers, volumes: [{ name: "tmp", emptyDir: {} }] } },
  });

  test("lists without foreign items are left alone, whatever else their items hold", () => {
    expect(withoutForeignItems(actual([{ ...container, image: "x" }]), wanted)).toBeUndefined();
    expect(withoutForeignItems({}, wanted)).toBeUndefined();
    expect(withoutForeignItems(actual([]), wanted)).toBeUndefined();
  });

  test.each([
    ["a container", [container, { name: "sidecar" }]],
    ["a variable", [{ ...container, env: [...container.env, { name: "b", value: "2" }] }]],
  ])("%s that somebody added is removed with its list", (_, containers) => {
    expect(withoutForeignItems(actual(containers), wanted)).toEqual({
      spec: { template: { containers: [container] } },
    });
  });
});

describe("fields that others own", () => {
  const container = { name: "f", image: "a", env: [{ name: "a", value: "1" }] };
  const wanted = {
    spec: { replicas: 1, template: { metadata: { labels: { a: "1" } }, spec: { containers: [container] } } },
  };
  const owned = (fields: object) =>
    foreignFields([{ manager: "kubectl", operation: "Update", fieldsV1: { "f:spec": fields } }], "weir");
  const inPods = (fields: object) => owned({ "f:template": { "f:spec": fields } });
  const actual = (spec: object, pods: object, more: object = {}) => ({
    spec: {
      replicas: 1,
      ...spec,
      template: {
        metadata: { labels: { a: "1", b: "2" }, annotations: { at: "now" } },
        spec: {
          dnsPolicy: "ClusterFirst",
          containers: [{ ...container, terminationMessagePath: "/x", ...more }],
          ...pods,
        },
      },
    },
  });

  test.each([
    ["a pause", actual({ paused: true }, {}), owned({ "f:paused": {} }), { spec: { paused: null } }],
    [
      "an init container",
      actual({}, { initContainers: [{ name: "i" }], hostNetwork: true }),
      inPods({ "f:initContainers": { ".": {} }, "f:hostNetwork": {} }),
      { spec: { template: { spec: { initContainers: null, hostNetwork: null } } } },
    ],
    [
      "variables from elsewhere",
      actual({}, {}, { envFrom: [{ secretRef: { name: "s" } }] }),
      inPods({ "f:containers": { 'k:{"name":"f"}': { "f:envFrom": {} } } }),
      { spec: { template: { spec: { containers: [container] } } } },
    ],
  ])("%s that somebody added is removed", (_, found, fields, patch) => {
    expect(withoutForeignItems(found, wanted, fields)).toEqual(patch);
    // Owned by nobody else: a value of the API server, or of a webhook.
    expect(withoutForeignItems(found, wanted, foreignFields([], "weir"))).toBeUndefined();
  });

  test("what we own as well, labels and annotations stay, and what is gone needs no patch", () => {
    const both = owned({
      "f:replicas": {},
      "f:paused": {},
      "f:template": {
        "f:metadata": { "f:labels": { "f:b": {} }, "f:annotations": { "f:at": {} } },
        "f:spec": {
          "f:containers": { 'k:{"name":"f"}': { ".": {}, "f:image": {} }, 'k:{"name":"gone"}': { "f:args": {} } },
        },
      },
    });
    expect(withoutForeignItems(actual({}, {}), wanted, both)).toBeUndefined();
  });

  test("fields of the status, of a subresource and of ourselves are not foreign", () => {
    const fieldsV1 = { "f:spec": { "f:paused": {} } };
    const entries = [
      { manager: "weir", operation: "Apply", fieldsV1 },
      { manager: "kube-controller-manager", operation: "Update", subresource: "status", fieldsV1 },
    ] as const;
    expect(withoutForeignItems(actual({ paused: true }, {}), wanted, foreignFields(entries, "weir"))).toBeUndefined();
  });
});

describe("asApplied", () => {
  const applied = { manager: "weir", operation: "Apply", fieldsV1: { "f:spec": { "f:a": {} } } };
  const written = { manager: "weir", operation: "Update", fieldsV1: { "f:spec": { "f:b": {} } } };
  const status = { manager: "weir", operation: "Update", subresource: "status", fieldsV1: { "f:status": {} } };
  const another = { manager: "kubectl", operation: "Update", fieldsV1: { "f:spec": { "f:c": {} } } };

  test("what was written counts as applied; the status and other owners keep their fields", () => {
    expect(asApplied([another, written, status], "weir")).toEqual([
      { ...written, operation: "Apply" },
      another,
      status,
    ]);
    expect(asApplied([applied, another, written], "weir")).toEqual([
      { ...applied, fieldsV1: { "f:spec": { "f:a": {}, "f:b": {} } } },
      another,
    ]);
  });

  test("nothing changes where everything was applied", () => {
    expect(asApplied([applied, another, status], "weir")).toBeUndefined();
    expect(asApplied([], "weir")).toBeUndefined();
  });
});
