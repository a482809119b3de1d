import { expect, test } from "vitest";

import { decideRollout, type Workload } from "../../../../infra/rollout/decide-rollout.ts";

const template = (image: string, variable = "30s") => ({
  spec: { containers: [{ name: "gateway", image, env: [{ name: "upstream_timeout", value: variable }] }] },
});
const wanted = { spec: { replicas: 2, template: template("weir:2") } };
const finished = { observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

function live(status: object, spec: object = {}): Workload {
  return { metadata: { generation: 3 }, spec: { ...wanted.spec, ...spec }, status: { ...finished, ...status } };
}

interface Difference {
  readonly metadata?: object | undefined;
  readonly args?: readonly string[] | undefined;
}

test("done: the change was observed, and all pods are of it and available", () => {
  expect(decideRollout(wanted, live({}))).toEqual({ kind: "done" });
});

test("scaling by others is respected: the cluster's replicas count, even zero", () => {
  const five = { replicas: 5, updatedReplicas: 5, availableReplicas: 5 };
  expect(decideRollout(wanted, live(five, { replicas: 5 })).kind).toBe("done");
  expect(decideRollout(wanted, live({}, { replicas: 5 })).kind).toBe("under-way");
  const none = { observedGeneration: 3, replicas: undefined, updatedReplicas: undefined, availableReplicas: undefined };
  expect(decideRollout(wanted, live(none, { replicas: 0 }))).toEqual({ kind: "done" });
});

test.each([
  ["the object before the write", { observedGeneration: 2 }, "not looked at the change"],
  ["old pods that serve", { updatedReplicas: 1 }, "1 of 2 pods are of the desired version"],
  ["old pods beside new ones", { replicas: 3, availableReplicas: 2 }, "1 pods of the previous version still run"],
  ["new pods that do not serve yet", { availableReplicas: 1 }, "1 of 2 pods are available"],
])("in progress: %s", (_, status, because) => {
  expect(decideRollout(wanted, live(status))).toEqual({
    kind: "under-way",
    because: expect.stringContaining(because),
  });
});

test.each([
  ["nothing there", undefined, "not in the cluster"],
  ["another image", live({}, { template: template("weir:1") }), 'image "weir:1" instead of "weir:2"'],
  ["another setting", live({}, { template: template("weir:2", "9s") }), 'upstream_timeout="9s" instead of "30s"'],
])("failed, as waiting does not help: %s", (_, found, because) => {
  const rollout = decideRollout(wanted, found);
  expect(rollout).toEqual({ kind: "failed", because: expect.stringContaining(because) });
  expect(rollout).toEqual({ kind: "failed", because: expect.stringContaining("pulumi up --refresh") });
});

test.each([
  [
    "another checksum of what they read",
    { metadata: { annotations: { "weir/checksum": "old" } } },
    'annotation weir/checksum of its pods is "old" instead of "new"',
  ],
  [
    "other arguments",
    { args: ["gateway", "--config", "/old"] },
    'runs with the arguments ["gateway","--config","/old"]',
  ],
])("failed, as the pods have another template: %s", (_, { metadata, args }: Difference, because) => {
  const marked = (differs: Difference) => {
    const { spec } = template("weir:2");
    const containers = spec.containers.map((each) => ({ ...each, args: differs.args ?? ["gateway"] }));
    return { metadata: differs.metadata ?? { annotations: { "weir/checksum": "new" } }, spec: { containers } };
  };
  const program = { spec: { replicas: 2, template: marked({}) } };
  const rollout = decideRollout(program, live({}, { template: marked({ metadata, args }) }));
  expect(rollout).toEqual({ kind: "failed", because: expect.stringContaining(because) });
  expect(rollout).toEqual({ kind: "failed", because: expect.stringContaining("pulumi up --refresh") });
  expect(decideRollout(program, live({}, { template: marked({}) })).kind).toBe("done");
});

test("failed: the controller gave up", () => {
  const conditions = [{ type: "Progressing", status: "False", message: "has timed out progressing" }];
  expect(decideRollout(wanted, live({ updatedReplicas: 1, conditions }))).toEqual({
    kind: "failed",
    because: "has timed out progressing",
  });
});

test("additions of others are no other version: annotations, containers, variables, defaults", () => {
  const containers = [
    { name: "mesh", image: "mesh:1" },
    {
      name: "gateway",
      image: "weir:2",
      env: [
        { name: "HTTP_PROXY", value: "x" },
        { name: "upstream_timeout", value: "30s" },
      ],
    },
  ];
  const more = { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "now" } }, spec: { containers } };
  expect(decideRollout(wanted, live({}, { template: more }))).toEqual({ kind: "done" });
});
