import { describe, expect, test } from "vitest";

import { asApplied } from "../../../../../runtime/adapters/kubernetes/operator/applied-fields.ts";
import { withoutForeignItems } from "../../../../../runtime/adapters/kubernetes/operator/foreign-items.ts";

describe("withoutForeignItems", () => {
  const container = { name: "f", env: [{ name: "a", value: "1" }] };
  const wanted = { spec: { replicas: 1, template: { containers: [container], volumes: [{ name: "tmp" }] } } };
  const actual = (containers: readonly object[]) => ({
    spec: { replicas: 1, paused: true, template: { containers, volumes: [{ name: "tmp", emptyDir: {} }] } },
  });

  test("nothing is taken out of lists that hold what is wanted, whatever their items hold beside", () => {
    expect(withoutForeignItems(actual([{ ...container, image: "x" }]), wanted)).toBeUndefined();
    expect(withoutForeignItems({}, wanted)).toBeUndefined();
    expect(withoutForeignItems(actual([]), wanted)).toBeUndefined();
  });

  test.each([
    ["a container", [container, { name: "sidecar" }]],
    ["a variable", [{ ...container, env: [...container.env, { name: "b", value: "2" }] }]],
  ])("%s that somebody added goes, with the list it is in", (_, containers) => {
    expect(withoutForeignItems(actual(containers), wanted)).toEqual({
      spec: { template: { containers: [container] } },
    });
  });
});

describe("asApplied", () => {
  const applied = { manager: "weir", operation: "Apply", fieldsV1: { "f:spec": { "f:a": {} } } };
  const written = { manager: "weir", operation: "Update", fieldsV1: { "f:spec": { "f:b": {} } } };
  const status = { manager: "weir", operation: "Update", subresource: "status", fieldsV1: { "f:status": {} } };
  const another = { manager: "kubectl", operation: "Update", fieldsV1: { "f:spec": { "f:c": {} } } };

  test("what was written becomes what was applied; the status and others keep theirs", () => {
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

  test("nothing is to be done where all was applied", () => {
    expect(asApplied([applied, another, status], "weir")).toBeUndefined();
    expect(asApplied([], "weir")).toBeUndefined();
  });
});
