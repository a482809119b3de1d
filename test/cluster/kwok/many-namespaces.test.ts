import { afterAll, beforeAll, expect, test } from "vitest";

import { openOperatedCluster, type OperatedCluster } from "../../support/cluster-operator.ts";
import { eventually } from "../../support/eventually.ts";
import { makeFunctionNamespaces, type FunctionNamespaces } from "../../support/function-namespaces.ts";
import { metricOf } from "../../support/platform-admin.ts";
import { countRequestsOf, type RequestsOfAccount } from "../../support/requests-of-account.ts";
import { watchesOf } from "../../support/watches-of-cluster.ts";

const count = 40;
const functionsEach = 4;
const functions = count * functionsEach;
const within = 180_000;
let opened: OperatedCluster;
let made: FunctionNamespaces | undefined;
let requests: RequestsOfAccount;

beforeAll(async () => {
  opened = await openOperatedCluster(1, [], "pro");
  requests = await countRequestsOf(opened.cluster, "operator");
}, 120_000);
afterAll(async () => {
  try {
    await made?.close();
  } finally {
    await opened?.close();
  }
  expect(opened?.operators[0].mishaps ?? []).toEqual([]);
}, 300_000);

const allMade = (namespaces: FunctionNamespaces, all: number) =>
  eventually(async () => (await namespaces.deployments()).size === all, {
    within,
    what: "a Deployment of each function",
    every: 1_000,
  });

test(`${count} namespaces cost the operator neither connections nor watches`, async () => {
  const [operator] = opened.operators;
  const [watches, { descriptors }] = [await watchesOf(opened.cluster), await operator.measure()];
  made = await makeFunctionNamespaces(opened.cluster, count, functionsEach);
  await allMade(made, functions);
  // Short requests use at most 16 connections. Other test files open and close watches, too.
  expect((await operator.measure()).descriptors - descriptors).toBeLessThanOrEqual(16);
  expect((await watchesOf(opened.cluster)) - watches).toBeLessThan(2 * count);
}, 300_000);

test("a new operator reads each kind once, the core secrets once per namespace, and writes nothing", async () => {
  const [operator] = opened.operators;
  const idle = () =>
    eventually(async () => (await metricOf(operator, "operator_queued_objects")) === 0, {
      within,
      what: "all to be done",
    });
  await idle();
  await operator.stop();
  const before = await requests.count();
  await operator.start();
  await idle();
  const [first = ""] = made?.names ?? [];
  await made?.makeFunction(first, "later");
  await allMade(made as FunctionNamespaces, functions + 1);
  // Ten kinds and five of the platform, each with a list and a watch; a lease; the new function.
  expect((await requests.count()) - before).toBeLessThanOrEqual(count + 1 + 100);
}, 300_000);
