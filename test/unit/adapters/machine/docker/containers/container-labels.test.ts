import { expect, test } from "vitest";

import {
  engineLabel,
  formatLabels,
  parseLabels,
} from "../../../../../../runtime/adapters/machine/docker/containers/container-labels.ts";
import { echoSpec } from "../../../../../contract/replicas.contract.ts";

test("the labels of a container describe its replica, and show no environment", () => {
  const spec = {
    ...echoSpec({ namespace: "dev", name: "hello" }, 7),
    secrets: ["a", "b.c"],
    environment: { k: "canary" },
  };
  const labels = formatLabels("i", "hello-1", spec);

  expect(parseLabels(labels)).toEqual({
    id: "hello-1",
    namespace: "dev",
    name: "hello",
    generation: 7,
    secrets: ["a", "b.c"],
    grace: 2_000,
  });
  expect(JSON.stringify(labels)).not.toContain("canary");
  expect(formatLabels("i", "hello-2", { ...spec, generation: 8 })[engineLabel.spec]).not.toBe(labels[engineLabel.spec]);
});

test("labels of a foreign container describe no replica", () => {
  expect(parseLabels({})).toBeUndefined();
  expect(parseLabels({ ...formatLabels("i", "x", echoSpec()), [engineLabel.generation]: "many" })).toBeUndefined();
});
