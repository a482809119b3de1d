import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionObject } from "../../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import { clusterClient } from "../../support/cluster-client.ts";
import { openClusterPlatform, type ClusterPlatform } from "../../support/cluster-platform.ts";
import { eventually } from "../../support/eventually.ts";
import { condition } from "../../support/operated-functions.ts";

/** A function whose count another autoscaler sets. */
let platform: ClusterPlatform;

beforeAll(async () => {
  platform = await openClusterPlatform();
}, 400_000);
afterAll(() => platform?.close(), 200_000);

const client = clusterClient(() => platform);
/** Milliseconds; usage is measured every 15 s, and evaluated as often. */
const timeout = 240_000;

/** Resolves with the Function once it `holds`. */
async function shows(what: string, holds: (object: FunctionObject) => boolean): Promise<FunctionObject> {
  const find = async (): Promise<FunctionObject | undefined> => {
    const object = JSON.parse(await client.kubectl("get", "fn", "shared", "--output=json")) as FunctionObject;
    return holds(object) ? object : undefined;
  };
  return eventually(find, { within: timeout, what, every: 1_000 });
}

test(
  "a HorizontalPodAutoscaler scales a Function, and Weir's autoscaler leaves it alone until Weir sets a count",
  async () => {
    const { functionNamespace: namespace, cluster, image } = platform;
    await cluster.apply({
      apiVersion: "service.com/v1",
      kind: "Function",
      metadata: { name: "shared", namespace },
      spec: { image, handler: "cat", labels: { "com.service.scale.max": "5" }, requests: { memory: "32Mi" } },
    });
    await shows("a ready replica", ({ status }) => status?.availableReplicas === 1);
    // Every process takes more than that, so the desired count is the maximum.
    const memory = { name: "memory", target: { type: "AverageValue", averageValue: "1Mi" } };
    await cluster.apply({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "shared", namespace },
      spec: {
        scaleTargetRef: { apiVersion: "service.com/v1", kind: "Function", name: "shared" },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [{ type: "Resource", resource: memory }],
      },
    });
    await shows("three replicas", ({ spec, status }) => spec.replicas === 3 && status?.availableReplicas === 3);
    const shared = await shows("who scales", (object) => condition(object, "Scaling")?.reason === "ExternalAutoscaler");
    expect(condition(shared, "Scaling")).toMatchObject({
      status: "True",
      message: expect.stringContaining('Scaled by "kube-controller-manager"'),
    });
    // Nobody calls it: by load alone Weir would keep one replica.
    expect(shared.spec.replicas).toBe(3);
    expect((await client.show("shared")).conditions).toContainEqual(
      expect.objectContaining({ type: "Scaling", reason: "ExternalAutoscaler" }),
    );

    await client.kubectl("delete", "hpa", "shared");
    const response = await client.sendJson("POST", "/system/scale-function/shared", {
      serviceName: "shared",
      replicas: 2,
    });
    expect([response.status, await response.text()]).toEqual([202, ""]);
    const back = await client.show("shared");
    expect(back.conditions).toContainEqual(expect.objectContaining({ type: "Scaling", reason: "OnHold" }));
  },
  3 * timeout,
);
