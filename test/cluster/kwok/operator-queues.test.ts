import { afterAll, beforeAll, expect, test } from "vitest";

import { loadBaseImage } from "../../support/cluster-images.ts";
import { openOperatedCluster, type OperatedCluster } from "../../support/cluster-operator.ts";
import { condition, operatedFunctions } from "../../support/operated-functions.ts";

let opened: OperatedCluster;
let image: string;

beforeAll(async () => {
  // The default queue, the only one of this edition, is not declared.
  opened = await openOperatedCluster(1, ["--declared-queues=mail=5m"]);
  image = opened.cluster.level === "node" ? await loadBaseImage(opened.cluster) : "example/hello:1";
}, 120_000);
afterAll(() => opened?.close());

const { apply, shows } = operatedFunctions(
  () => opened,
  () => image,
);

test("a function with an undeclared queue runs, is ready, and is stalled", async () => {
  await apply("unqueued", {});
  const object = await shows(
    "unqueued",
    "a ready replica",
    (each) => condition(each, "Reconciling")?.status === "False",
    20_000,
  );
  expect(object.status).toMatchObject({ availableReplicas: 1 });
  expect(condition(object, "Ready")?.status).toBe("True");
  expect(condition(object, "Stalled")).toMatchObject({
    status: "True",
    reason: "QueueNotFound",
    message: `Cannot queue calls of function "unqueued.${opened.namespace}": queue "default" is not declared`,
  });
});
