import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeAll, expect, test } from "vitest";

import { operatorMemory, operatorNodeOptions } from "../../../infra/manifests/operator-memory.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { readKubeconfig } from "../../../runtime/adapters/kubernetes/client/kubeconfig.ts";
import {
  autoscalerCluster,
  gatewayCluster,
  workerCluster,
} from "../../../runtime/adapters/kubernetes/open-kubernetes.ts";
import { openOperatedCluster, type OperatedCluster } from "../../support/cluster-operator.ts";
import { copyNamespace, removeCopies } from "../../support/copied-namespaces.ts";
import { eventually } from "../../support/eventually.ts";
import { makeFunctionNamespaces, namespaceName, type FunctionNamespaces } from "../../support/function-namespaces.ts";
import { metricOf } from "../../support/platform-admin.ts";
import { countRequestsOf, type RequestsOfAccount } from "../../support/requests-of-account.ts";
import { say } from "../../support/say.ts";

const namespaces = 1_000;
const functionsEach = 10;
/** MB (1 000 000 bytes), seconds, seconds, requests per second. */
const promised = { memory: 250, ready: 60, acted: 3, atRest: 20 };
/** Lists and watches of each kind, in pages of 500, and leases. */
const readsAtStart = 400;
const minutes = 60_000;

const memory = operatorMemory(
  readPlatform({ edition: "pro", operator: { functions: namespaces * functionsEach, namespaces } }),
);
let opened: OperatedCluster;
let seed: FunctionNamespaces;
let directory: string;
let copies: readonly string[] = [];
let requests: RequestsOfAccount;

beforeAll(async () => {
  opened = await openOperatedCluster(1, [], "pro", {
    node: operatorNodeOptions(memory),
    readyWithin: 5 * minutes,
  });
  const { cluster } = opened;
  if (cluster.directory === undefined) throw new Error("Cannot fill a cluster that is not one of npm run cluster");
  ({ directory } = cluster);
  seed = await makeFunctionNamespaces(cluster, 1, functionsEach);
  const [first = ""] = seed.names;
  await eventually(() => seed.settled(first, functionsEach), {
    within: 3 * minutes,
    what: "the first namespace to be all made",
    every: 1_000,
  });
  await opened.operators[0].stop();
  copies = Array.from({ length: namespaces - 1 }, (_, at) => namespaceName(cluster, at + 1));
  const took = await timed(() => copyNamespace(cluster, directory, { seed: first, copies }));
  requests = await countRequestsOf(cluster, "operator");
  say(`${namespaces} namespaces with ${namespaces * functionsEach} functions are there after ${took.toFixed(0)} s`);
}, 20 * minutes);
afterAll(async () => {
  try {
    if (opened?.operators[0].running) await opened.operators[0].stop();
    await removeCopies(directory, copies);
    await seed?.close();
  } finally {
    await opened?.close();
  }
  expect(opened?.operators[0].mishaps ?? []).toEqual([]);
}, 10 * minutes);

/** Resident MB, current and peak. */
async function residentOf(pid: number): Promise<{ readonly now: number; readonly most: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const megabytes = (field: string) =>
    (Number(new RegExp(String.raw`^${field}:\s+(\d+) kB$`, "m").exec(status)?.[1]) * 1_024) / 1e6;
  return { now: megabytes("VmRSS"), most: megabytes("VmHWM") };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

test(
  `a new operator is ready after ${promised.ready} s, and writes nothing that is already right`,
  async () => {
    const [operator] = opened.operators;
    const before = await requests.count();
    const ready = await timed(() => operator.start());
    say(`a new operator is ready after ${ready.toFixed(1)} s`);
    expect(ready).toBeLessThanOrEqual(promised.ready);
    const all = await timed(() =>
      eventually(
        async () => {
          // None is queued at first, either.
          const done = await metricOf(operator, "operator_reconciled_total", { kind: "function", outcome: "done" });
          return done >= namespaces * functionsEach && (await metricOf(operator, "operator_queued_objects")) === 0;
        },
        { within: 10 * minutes, what: "all objects to be reconciled", every: 1_000 },
      ),
    );
    const sent = (await requests.count()) - before;
    say(`it has looked at all ${all.toFixed(1)} s later, with ${sent} requests`);
    // One list of core secrets for each namespace.
    expect(sent).toBeLessThanOrEqual(namespaces + readsAtStart);
  },
  15 * minutes,
);

test(`a new function has its Deployment after ${promised.acted} s`, async () => {
  const [first = ""] = seed.names;
  const acted = await timed(async () => {
    await seed.makeFunction(first, "later");
    await eventually(async () => (await seed.hasDeployment(first, "later")) || undefined, {
      what: "its Deployment",
      every: 20,
    });
  });
  say(`a new function has its Deployment after ${acted.toFixed(2)} s`);
  expect(acted).toBeLessThanOrEqual(promised.acted);
});

test(
  `all processes together send ${promised.atRest} requests a second at rest`,
  async () => {
    const { cluster, namespace } = opened;
    const readers = ["gateway", "queue-worker", "autoscaler"] as const;
    const counters = [requests, ...(await Promise.all(readers.map((each) => countRequestsOf(cluster, each))))];
    const settings = { edition: "pro", functionNamespace: namespace, platformNamespace: cluster.namespace } as const;
    const configOf = async (account: string) => readKubeconfig((await cluster.account(account)).kubeconfig);
    const news = { onFailure: (err: unknown): void => say(String(err)), onRecovered: () => {} };
    const clusters = [
      gatewayCluster(await configOf("gateway"), settings, news),
      workerCluster(await configOf("queue-worker"), settings, news),
      autoscalerCluster(await configOf("autoscaler"), settings, news),
    ];
    try {
      const observer = { set: () => {}, removed: () => {}, synced: () => {} };
      for (const { endpoints } of clusters) await endpoints.watch(observer);
      const sum = async (): Promise<number> => {
        const counts = await Promise.all(counters.map((each) => each.count()));
        return counts.reduce((total, each) => total + each, 0);
      };
      const before = await sum();
      const seconds = await timed(() => pause(minutes));
      const each = ((await sum()) - before) / seconds;
      say(`at rest all processes together send ${each.toFixed(1)} requests a second`);
      expect(each).toBeLessThanOrEqual(promised.atRest);
    } finally {
      for (const each of clusters) await each.close();
    }
  },
  10 * minutes,
);

test(`the operator takes at most ${promised.memory} MB, and at most the derived limit`, async () => {
  const [operator] = opened.operators;
  const held = await operator.measure();
  const { now, most } = await residentOf(operator.pid);
  const figures = `${now.toFixed(0)} MB are resident, ${most.toFixed(0)} at the most, of ${(memory / 1e6).toFixed(0)}`;
  say(`the operator holds ${(held.memory / 1e6).toFixed(0)} MB; ${figures}`);
  expect(most).toBeLessThanOrEqual(promised.memory);
  expect(most).toBeLessThanOrEqual(memory / 1e6);
});
