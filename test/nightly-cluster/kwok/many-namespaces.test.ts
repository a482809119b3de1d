import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeAll, expect, test } from "vitest";

import { readKubeconfig } from "../../../runtime/adapters/kubernetes/client/kubeconfig.ts";
import {
  autoscalerCluster,
  gatewayCluster,
  workerCluster,
} from "../../../runtime/adapters/kubernetes/open-kubernetes.ts";
import { openOperatedCluster, type OperatedCluster } from "../../support/cluster-operator.ts";
import { eventually } from "../../support/eventually.ts";
import { makeFunctionNamespaces, type FunctionNamespaces } from "../../support/function-namespaces.ts";
import { countRequestsOf } from "../../support/requests-of-account.ts";
import { say } from "../../support/say.ts";

const namespaces = 1_000;
const functionsEach = 10;
/** MB (1 000 000 bytes), seconds, requests a second. */
const promised = { memory: 250, ready: 60, acted: 3, atRest: 20 };
const minutes = 60_000;

let opened: OperatedCluster;
let made: FunctionNamespaces;

beforeAll(async () => {
  opened = await openOperatedCluster(1, [], "pro");
}, 2 * minutes);
afterAll(async () => {
  await made?.close();
  expect(opened.operators[0].mishaps).toEqual([]);
  await opened.close();
}, 20 * minutes);

/** MB that are resident. */
async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024) / 1e6;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

test(
  `${namespaces} namespaces with ${namespaces * functionsEach} functions`,
  async () => {
    const [operator] = opened.operators;
    const all = namespaces * functionsEach;
    const making = await timed(async () => {
      made = await makeFunctionNamespaces(opened.cluster, namespaces, functionsEach);
      await eventually(async () => (await made.deployments()).size === all, {
        within: 20 * minutes,
        what: "a Deployment of each",
        every: 5_000,
      });
    });
    say(`${all} functions have their Deployments after ${making.toFixed(0)} s`);

    await operator.stop();
    const ready = await timed(() => operator.start());
    say(`a new operator is ready after ${ready.toFixed(1)} s`);
    expect(ready).toBeLessThanOrEqual(promised.ready);

    const accounts = ["operator", "gateway", "queue-worker", "autoscaler"] as const;
    const counters = await Promise.all(accounts.map((account) => countRequestsOf(opened.cluster, account)));
    const settings = {
      edition: "pro",
      functionNamespace: opened.namespace,
      platformNamespace: opened.cluster.namespace,
    } as const;
    const configOf = async (account: string) => readKubeconfig((await opened.cluster.account(account)).kubeconfig);
    const news = { onTrouble: (err: unknown): void => say(String(err)), onRecovered: () => {} };
    const readers = [
      gatewayCluster(await configOf("gateway"), settings, news),
      workerCluster(await configOf("queue-worker"), settings, news),
      autoscalerCluster(await configOf("autoscaler"), settings, news),
    ];
    try {
      const observer = { set: () => {}, removed: () => {}, synced: () => {} };
      for (const { endpoints } of readers) await endpoints.watch(observer);
      const sum = async (): Promise<number> => {
        const counts = await Promise.all(counters.map((each) => each.count()));
        return counts.reduce((total, each) => total + each, 0);
      };
      const rate = await eventually(
        async () => {
          const before = await sum();
          const seconds = await timed(() => pause(60_000));
          const each = ((await sum()) - before) / seconds;
          return each <= promised.atRest ? { each } : undefined;
        },
        { within: 15 * minutes, what: `no more than ${promised.atRest} requests a second` },
      );
      say(`at rest all processes together send ${rate.each.toFixed(1)} requests a second`);
    } finally {
      for (const reader of readers) await reader.close();
    }

    const [first = ""] = made.names;
    const acted = await timed(async () => {
      await made.makeFunction(first, "later");
      await eventually(async () => (await made.hasDeployment(first, "later")) || undefined, {
        what: "its Deployment",
        every: 20,
      });
    });
    say(`a new function has its Deployment after ${acted.toFixed(2)} s`);
    expect(acted).toBeLessThanOrEqual(promised.acted);

    const held = await operator.measure();
    const resident = await residentOf(operator.pid);
    say(`the operator holds ${(held.memory / 1e6).toFixed(0)} MB, ${resident.toFixed(0)} MB are resident`);
    expect(resident).toBeLessThanOrEqual(promised.memory);
  },
  60 * minutes,
);
