import { setTimeout as pause } from "node:timers/promises";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { openClusterPlatform, type ClusterPlatform } from "../../test/support/cluster-platform.ts";
import type { GivenCluster } from "../../test/support/cluster-setup.ts";
import { eventually } from "../../test/support/eventually.ts";
import { openGivenCluster } from "../../test/support/test-cluster.ts";

/** A function at zero in a cluster, and beside it the same pod without Weir, at zero, too. */
export interface ClusterCold {
  /** Milliseconds from the call to its answer; lets it go back to zero. */
  byWeir(): Promise<number>;
  /** Milliseconds from `kubectl scale` to an answer through the Service; lets it go back to zero. */
  byHand(): Promise<number>;
  close(): Promise<void>;
}

const patience = 60_000;
const byWeir = "cold";
const byHand = "by-hand";

/** Puts a platform of its own into the cluster. */
export async function openClusterCold(given: GivenCluster): Promise<ClusterCold> {
  const cluster = await openGivenCluster(given, `weir-bench-${process.pid}`);
  const platform = await openClusterPlatform({}, cluster);
  try {
    return await prepared(platform);
  } catch (err) {
    await platform.close();
    throw err;
  }
}

async function prepared(platform: ClusterPlatform): Promise<ClusterCold> {
  const { cluster, functionNamespace: namespace } = platform;
  const kubectl = (...args: readonly string[]): Promise<string> => cluster.kubectl(args, { namespace });
  const system = async (method: string, path: string, body?: object): Promise<Response> => {
    const answer = await fetch(`${platform.url}/system/${path}`, {
      method,
      headers: { authorization: platform.authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`Cannot measure: ${method} /system/${path} answered ${await answer.text()}`);
    return answer;
  };
  const noPods = (selector: string): Promise<unknown> =>
    eventually(async () => (await kubectl("get", "pods", `--selector=${selector}`, "--output=name")) === "", {
      within: patience,
      what: "the pods to be gone",
      every: 200,
    });
  const sleepByWeir = async (): Promise<void> => {
    await (await system("POST", `scale-function/${byWeir}`, { replicas: 0 })).body?.cancel();
    await noPods(`faas_function=${byWeir}`);
  };

  await (
    await system("POST", "functions", { service: byWeir, image: platform.image, envProcess: "cat" })
  ).body?.cancel();
  await eventually(
    async () => {
      const status = (await (await system("GET", `function/${byWeir}`)).json()) as FunctionStatus;
      return status.availableReplicas === 1;
    },
    { within: patience, what: "the function to be ready", every: 200 },
  );
  const address = await handMade(platform);
  await sleepByWeir();
  return {
    byWeir: async () => {
      const began = performance.now();
      const answer = await fetch(`${platform.url}/function/${byWeir}`, { method: "POST", body: "hello" });
      if (!answer.ok) throw new Error(`Cannot measure: the function answered ${answer.status} ${await answer.text()}`);
      await answer.text();
      const took = performance.now() - began;
      await sleepByWeir();
      return took;
    },
    byHand: async () => {
      const began = performance.now();
      await kubectl("scale", `deployment/${byHand}`, "--replicas=1");
      await firstAnswer(address);
      const took = performance.now() - began;
      await kubectl("scale", `deployment/${byHand}`, "--replicas=0");
      await noPods(`app=${byHand}`);
      return took;
    },
    close: () => platform.close(),
  };
}

/** A Deployment with the function's own pod and a Service; hands back its address. */
async function handMade({ cluster, functionNamespace: namespace }: ClusterPlatform): Promise<string> {
  const kubectl = (...args: readonly string[]): Promise<string> => cluster.kubectl(args, { namespace });
  const made = JSON.parse(await kubectl("get", `deployment/${byWeir}`, "--output=json")) as {
    readonly spec: { readonly template: { readonly spec: object } };
  };
  const labels = { app: byHand };
  const metadata = { name: byHand, namespace };
  await cluster.apply(
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: made.spec.template.spec },
      },
    },
    { apiVersion: "v1", kind: "Service", metadata, spec: { selector: labels, ports: [{ port: 8080 }] } },
  );
  const address = await kubectl("get", `service/${byHand}`, "--output=jsonpath={.spec.clusterIP}");
  return `http://${address}:8080/`;
}

/** Asks until it answers 200; a connection before there is a pod may hang. */
async function firstAnswer(url: string): Promise<void> {
  const until = performance.now() + patience;
  while (performance.now() < until) {
    try {
      const answer = await fetch(url, { method: "POST", body: "hello", signal: AbortSignal.timeout(250) });
      await answer.text();
      if (answer.ok) return;
    } catch {
      // Nobody listens yet.
    }
    await pause(10);
  }
  throw new Error("Cannot measure: the pod made by hand does not answer");
}
