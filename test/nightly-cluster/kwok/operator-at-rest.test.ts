import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeAll, expect, test } from "vitest";

import { openOperatedCluster, type OperatedCluster } from "../../support/cluster-operator.ts";
import { eventually } from "../../support/eventually.ts";
import { countRequestsOf } from "../../support/requests-of-account.ts";

let opened: OperatedCluster;

beforeAll(async () => {
  opened = await openOperatedCluster();
}, 120_000);
afterAll(async () => {
  await opened?.close();
  expect(opened?.operators[0].mishaps ?? []).toEqual([]);
}, 300_000);

const many = 1_000;
/** Objects that one kubectl command applies in good time. */
const batch = 200;

test(`the operator hardly uses the API server with ${many} functions scaled to zero`, async () => {
  const { cluster, namespace } = opened;
  const names = Array.from({ length: many }, (_, index) => `many-${index}`);
  const requests = await countRequestsOf(cluster, "operator");
  const began = performance.now();
  for (let first = 0; first < many; first += batch) {
    const objects = names.slice(first, first + batch).map((name) => ({
      apiVersion: "service.com/v1",
      kind: "Function",
      metadata: { name, namespace },
      spec: { image: "example/hello:1", replicas: 0, labels: { "com.service.scale.zero": "true" } },
    }));
    await cluster.apply(...objects);
  }
  const made = async (kind: string): Promise<number> => {
    const listed = await cluster.kubectl(["get", kind, "--output=name"], { namespace });
    return listed.split("\n").filter((line) => line.includes("/many-")).length;
  };
  await eventually(async () => (await made("deployments")) === many && (await made("services")) === many, {
    within: 180_000,
    what: "a Deployment and a Service of each",
    every: 1_000,
  });
  const all = (performance.now() - began) / 1_000;
  const rate = async (): Promise<number> => {
    const [before, since] = [await requests.count(), performance.now()];
    await pause(10_000);
    return ((await requests.count()) - before) / ((performance.now() - since) / 1_000);
  };
  const { each } = await eventually(
    async () => {
      const measured = await rate();
      return measured <= 5 ? { each: measured } : undefined;
    },
    { within: 120_000, what: "no more than 5 requests a second" },
  );
  console.log(
    `${many} functions were there after ${all.toFixed(0)} s; at rest the operator sends ${each.toFixed(2)} requests a second`,
  );
}, 400_000);
