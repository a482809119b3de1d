import { setTimeout as pause } from "node:timers/promises";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { openClusterPlatform, type ClusterPlatform } from "../../test/support/cluster-platform.ts";
import type { GivenCluster } from "../../test/support/cluster-setup.ts";
import { eventually } from "../../test/support/eventually.ts";
import { openGivenCluster } from "../../test/support/test-cluster.ts";

/** A function scaled to zero in a cluster, and the same pod without Weir, also scaled to zero. */
export interface ClusterCold {
  /** Milliseconds from the call to its reply; then scales to zero again. */
  byWeir(): Promise<number>;
  /** Milliseconds from `kubectl scale` to a reply through the Service; then scales to zero again. */
  byHand(): Promise<number>;
  close(): Promise<void>;
}

const timeout = 60_000;
const byWeir = "cold";
const byHand = "by-hand";

/** Installs a platform for the measurement in the cluster. */
export async function openClusterCold(given: GivenCluster): Promise<ClusterCold> {
  const cluster = await openGivenCluster(given, `weir-bench-${process.pid}`);
  const platform = await openClusterPlatform({}, cluster);
  try {
    return await prepare(platform);
  } catch (err) {
    await platform.close();
    throw err;
  }
}

async function prepare(platform: ClusterPlatform): Promise<ClusterCold> {
  const { cluster, functionNamespace: namespace } = platform;
  const kubectl = (...args: readonly string[]): Promise<string> => cluster.kubectl(args, { namespace });
  const system = async (method: string, path: string, body?: object): Promise<Response> => {
    const response = await fetch(`${platform.url}/system/${path}`, {
      method,
      headers: { authorization: platform.authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`Cannot measure: ${method} /system/${path} answered ${await response.text()}`);
    return response;
  };
  const noPods = (selector: string): Promise<unknown> =>
    eventually(async () => (await kubectl("get", "pods", `--selector=${selector}`, "--output=name")) === "", {
      within: timeout,
      what: "the pods to be gone",
      every: 200,
    });
  const scaleToZero = async (): Promise<void> => {
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
    { within: timeout, what: "the function to be ready", every: 200 },
  );
  const address = await deployByHand(platform);
  await scaleToZero();
  return {
    byWeir: async () => {
      const began = performance.now();
      const response = await fetch(`${platform.url}/function/${byWeir}`, { method: "POST", body: "hello" });
      if (!response.ok)
        throw new Error(`Cannot measure: the function answered ${response.status} ${await response.text()}`);
      await response.text();
      const took = performance.now() - began;
      await scaleToZero();
      return took;
    },
    byHand: async () => {
      const began = performance.now();
      await kubectl("scale", `deployment/${byHand}`, "--replicas=1");
      await firstReply(address);
      const took = performance.now() - began;
      await kubectl("scale", `deployment/${byHand}`, "--replicas=0");
      await noPods(`app=${byHand}`);
      return took;
    },
    close: () => platform.close(),
  };
}

/** Creates a Deployment with the function's pod template and a Service; resolves with the Service's URL. */
async function deployByHand({ cluster, functionNamespace: namespace }: ClusterPlatform): Promise<string> {
  const kubectl = (...args: readonly string[]): Promise<string> => cluster.kubectl(args, { namespace });
  const deployment = JSON.parse(await kubectl("get", `deployment/${byWeir}`, "--output=json")) as {
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
        template: { metadata: { labels }, spec: deployment.spec.template.spec },
      },
    },
    { apiVersion: "v1", kind: "Service", metadata, spec: { selector: labels, ports: [{ port: 8080 }] } },
  );
  const address = await kubectl("get", `service/${byHand}`, "--output=jsonpath={.spec.clusterIP}");
  return `http://${address}:8080/`;
}

/** Sends requests until one succeeds; a connection that is made before the pod exists may hang. */
async function firstReply(url: string): Promise<void> {
  const until = performance.now() + timeout;
  while (performance.now() < until) {
    try {
      const response = await fetch(url, { method: "POST", body: "hello", signal: AbortSignal.timeout(250) });
      await response.text();
      if (response.ok) return;
    } catch {
      // Nobody listens yet.
    }
    await pause(10);
  }
  throw new Error("Cannot measure: the pod made by hand does not answer");
}
