import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { KubeClient } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { cacheFunction, type FunctionWatch } from "../../../runtime/adapters/kubernetes/stores/cached-function.ts";
import { kinds } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { KubeFunctionStore } from "../../../runtime/adapters/kubernetes/stores/kube-function-store.ts";
import type { FunctionObject } from "../../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import { countedAnnotations } from "../../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { fixedNamespaces } from "../../../runtime/adapters/kubernetes/watch/namespace-set.ts";
import { NamespacedWatch } from "../../../runtime/adapters/kubernetes/watch/namespaced-watch.ts";
import type { FunctionDeployment } from "../../../runtime/api/schemas/function-deployment.ts";
import { applyHeld, applyScale } from "../../../runtime/core/scaling/apply-scale.ts";
import {
  desireFunction,
  scaledBecause,
  type DesiredFunction,
} from "../../../runtime/core/functions/desired-function.ts";
import { scaleFunction } from "../../../runtime/core/scaling/scale-function.ts";
import { scalingCondition } from "../../../runtime/core/scaling/scaling-condition.ts";
import { functionStoreContract } from "../../contract/function-store.contract.ts";
import { eventually } from "../../support/eventually.ts";
import { openKubeFixture, type KubeFixture } from "../../support/kube-fixture.ts";
import { followCluster, functionRights } from "../../support/process-rights.ts";

let fixture: KubeFixture;
let gateway: KubeClient;
let autoscaler: KubeClient;
let worker: KubeClient;
const open: FunctionWatch[] = [];

beforeAll(async () => {
  fixture = await openKubeFixture();
  gateway = await fixture.clientOf("gateway", functionRights.gateway, followCluster);
  autoscaler = await fixture.clientOf("autoscaler", functionRights.autoscaler, followCluster);
  worker = await fixture.clientOf("queue-worker", functionRights["queue-worker"], followCluster);
});
afterAll(async () => {
  for (const watch of open) await watch.close();
  await fixture?.close();
});

function watchOf(client: KubeClient): FunctionWatch {
  const watch = new NamespacedWatch(client, kinds.function, fixedNamespaces(...fixture.namespaces), {
    keep: cacheFunction,
  });
  open.push(watch);
  return watch;
}

/** Resolves once the watch knows exactly the existing functions. */
async function caughtUp(watch: FunctionWatch): Promise<void> {
  const existing = async (): Promise<string[]> => {
    const lists = await Promise.all(
      fixture.namespaces.map((namespace) => fixture.admin.listPage<FunctionObject>(kinds.function, { namespace })),
    );
    return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.uid ?? "")).sort();
  };
  const known = () => [...watch.entries()].map(([, { uid }]) => uid ?? "").sort();
  await eventually(async () => known().join() === (await existing()).join(), { what: "the watch" });
}

describe("KubeFunctionStore", () =>
  functionStoreContract(async () => {
    const watch = watchOf(gateway);
    return {
      store: new KubeFunctionStore(gateway, watch, "whole"),
      namespaces: fixture.namespaces,
      caughtUp: () => caughtUp(watch),
      close: async () => {
        await watch.close();
        await fixture.empty(kinds.function);
      },
    };
  }));

const full: FunctionDeployment = {
  service: "full",
  image: "example/image:1",
  envProcess: "cat",
  envVars: { A: "1", B: "" },
  labels: { "com.service.scale.max": "20", "com.service.scale.zero": "true" },
  annotations: { topic: "x" },
  secrets: ["one", "two"],
  constraints: ["zone=a"],
  limits: { cpu: "200m", memory: "64Mi" },
  requests: { cpu: "0.1" },
  readOnlyRootFilesystem: true,
};

/** A store per process, and a function that was deployed by request. */
async function deployed(name: string) {
  const [namespace] = fixture.namespaces;
  const watch = watchOf(gateway);
  const whole = new KubeFunctionStore(gateway, watch, "whole");
  const ref = { namespace, name };
  const deploy = (deployment: Partial<FunctionDeployment> = {}): Promise<DesiredFunction> =>
    whole.write(ref, (current) =>
      desireFunction(current, namespace, { ...full, service: name, ...deployment }, new Date().toISOString()),
    );
  await deploy();
  return {
    ref,
    namespace,
    watch,
    whole,
    deploy,
    scaler: new KubeFunctionStore(autoscaler, watch, "scale-and-status"),
    waker: new KubeFunctionStore(worker, watch, "scale"),
    object: () => fixture.admin.get<FunctionObject>(kinds.function, ref),
    get: async (): Promise<DesiredFunction> => {
      const found = await whole.get(ref);
      if (found === undefined) throw new Error("It is not there");
      return found;
    },
    kubectl: (...args: readonly string[]) => fixture.cluster.kubectl(args),
  };
}

describe("what others write", () => {
  test("a change of content counts as one deployment, a change of replicas or of nothing as none", async () => {
    const { get, kubectl, object, ref } = await deployed("counted");
    const first = await get();
    expect(first.generation).toBe(1);

    await kubectl("scale", "functions.service.com/counted", "--replicas=3");
    const elsewhere = expect.objectContaining({ message: "Scaled to 3 by other means than a request" });
    expect(await get()).toEqual({ ...first, replicas: 3, scaled: elsewhere });

    await kubectl("patch", "functions.service.com/counted", "--type=merge", '--patch={"spec":{"image":"other:2"}}');
    expect(await get()).toMatchObject({ generation: 2, replicas: 3, deployment: { image: "other:2" } });
    // What the operator writes when it counts.
    const annotations = countedAnnotations(await object(), new Date().toISOString());
    await fixture.admin.patch(kinds.function, "merge", { metadata: { annotations } }, ref);
    expect(await get()).toMatchObject({ generation: 2 });
    expect(countedAnnotations(await object(), "")).toBeUndefined();
    await kubectl("annotate", "functions.service.com/counted", "note=1");
    await kubectl("label", "functions.service.com/counted", "app=x");
    expect(await get()).toMatchObject({ generation: 2, deployment: { image: "other:2" } });
    await kubectl("patch", "functions.service.com/counted", "--type=merge", '--patch={"spec":{"image":"other:3"}}');
    expect((await get()).generation).toBe(3);
  });

  test("a function created by kubectl alone is desired, and can be redeployed and removed", async () => {
    const { whole, namespace } = await deployed("beside");
    const spec = { image: "example/image:1", labels: { "com.service.scale.min": "2" } };
    await fixture.cluster.apply({ apiVersion: "service.com/v1", kind: "Function", metadata: { name: "made" }, spec });
    const ref = { namespace, name: "made" };
    const made = await whole.get(ref);
    expect(made).toMatchObject({ generation: 1, replicas: 2, deployment: { service: "made", namespace, ...spec } });
    const again = await whole.write(ref, (current) =>
      desireFunction(current, namespace, { service: "made", ...spec }, new Date().toISOString()),
    );
    expect(again).toMatchObject({ generation: 2, createdAt: made?.createdAt, replicas: 2 });
    // An annotation counts as no deployment.
    await fixture.cluster.kubectl(["annotate", "functions.service.com/made", "x=y"]);
    expect((await whole.get(ref))?.generation).toBe(2);
    expect(await whole.remove(ref)).toBe(true);
  });

  test("labels and annotations of others survive a deployment by request", async () => {
    const { deploy, kubectl, object } = await deployed("kept");
    await kubectl("label", "functions.service.com/kept", "team=blue");
    await kubectl("annotate", "functions.service.com/kept", "note=1");
    await deploy({ image: "example/image:2" });
    const { metadata, spec } = await object();
    expect(metadata.labels?.["team"]).toBe("blue");
    expect(metadata.annotations?.["note"]).toBe("1");
    expect(spec.image).toBe("example/image:2");
  });

  test("a function that is being deleted is no longer desired, and its successor waits until it is gone", async () => {
    const { deploy, whole, ref, namespace, watch } = await deployed("leaving");
    const seen: string[] = [];
    await caughtUp(watch);
    const stop = await whole.watch({
      set: ({ name, generation }) => name === "leaving" && seen.push(`set ${generation}`),
      removed: ({ name }) => name === "leaving" && seen.push("removed"),
      synced: () => {},
    });
    const finalizers = (list: readonly string[]) =>
      fixture.admin.patch(kinds.function, "merge", { metadata: { finalizers: list } }, ref);
    await finalizers(["weir.example/test"]);
    expect(await whole.remove(ref)).toBe(true);
    expect(await whole.get(ref)).toBeUndefined();
    expect(await whole.remove(ref)).toBe(false);
    expect((await whole.list(namespace)).map(({ name }) => name)).not.toContain("leaving");
    const again = deploy();
    await eventually(() => seen.includes("removed"), { what: "the removal" });
    await finalizers([]);
    expect((await again).generation).toBe(1);
    await eventually(() => seen.length === 3, { what: "the new one" });
    expect(seen).toEqual(["set 1", "removed", "set 1"]);
    stop();
  });

  test("a namespace that does not exist is reported", async () => {
    const { whole } = await deployed("misplaced");
    const ref = { namespace: `${fixture.cluster.namespace}-never`, name: "x" };
    const write = whole.write(ref, () => desireFunction(undefined, ref.namespace, { ...full, service: "x" }, ""));
    // The account has no rights there either, which is reported first.
    await expect(write).rejects.toMatchObject({ code: "internal_error" });
    const admin = new KubeFunctionStore(fixture.admin, watchOf(fixture.admin), "whole");
    const written = admin.write(ref, () =>
      desireFunction(undefined, ref.namespace, { ...full, service: "x" }, new Date().toISOString()),
    );
    await expect(written).rejects.toMatchObject({ code: "namespace_not_found" });
  });
});

describe("writing", () => {
  test("all fields of a deployment are returned as they were sent", async () => {
    const { get, ref, namespace } = await deployed("whole");
    expect((await get()).deployment).toEqual({ ...full, service: ref.name, namespace });
  });

  test("nothing is written when nothing changes", async () => {
    const { whole, scaler, waker, ref, object } = await deployed("quiet");
    const before = (await object()).metadata.resourceVersion;
    for (const store of [whole, scaler, waker]) {
      await store.write(ref, (current) => {
        if (current === undefined) throw new Error("It is not there");
        return { ...current, held: undefined };
      });
    }
    expect((await object()).metadata.resourceVersion).toBe(before);
    const noted = {
      reason: "InUse",
      message: "Not scaled to zero: 1 call is under way",
      at: "2026-02-03T04:05:06.007Z",
    };
    await applyHeld(scaler, await unwrapped(scaler.get(ref)), noted);
    const held = (await object()).metadata.resourceVersion;
    expect(held).not.toBe(before);
    await applyHeld(scaler, await unwrapped(scaler.get(ref)), noted);
    expect((await object()).metadata.resourceVersion).toBe(held);
  });

  test("ten scalings and ten deployments at once do not overwrite each other", async () => {
    const { deploy, get, scaler, ref } = await deployed("busy");
    const scaling = Array.from({ length: 10 }, (_, index) => scaleFunction(scaler, ref, index + 1, 0));
    const deploying = Array.from({ length: 10 }, (_, index) => deploy({ image: `example/image:${index}` }));
    await Promise.all([...scaling, ...deploying]);
    const { generation, replicas } = await get();
    expect(generation).toBe(11);
    expect(replicas).toBeGreaterThan(0);
  });
});

async function unwrapped(found: Promise<DesiredFunction | undefined>): Promise<DesiredFunction> {
  const value = await found;
  if (value === undefined) throw new Error("It is not there");
  return value;
}

describe("scaling by accounts that may do nothing else", () => {
  test("the autoscaler writes the count, and the reason to its condition Scaling", async () => {
    const { get, scaler, object, deploy } = await deployed("scaled");
    const decision = { action: "scale", replicas: 4, because: "load-rose", message: "4 for 200 a second" } as const;
    expect(await applyScale(scaler, await get(), decision, () => 1_750_000_000_000)).toBe(true);
    const now = await get();
    const scaled = { reason: "LoadRose", message: "4 for 200 a second", at: "2025-06-15T15:06:40.000Z" };
    expect(now).toMatchObject({ replicas: 4, generation: 1, scaled });
    const { status, metadata } = await object();
    expect(status?.conditions).toEqual([{ ...scalingCondition(now), observedGeneration: metadata.generation }]);
    expect(await applyScale(scaler, { ...now, generation: 7 }, decision)).toBe(false);
    // A deployment keeps the count.
    expect((await deploy({ image: "example/image:9" })).replicas).toBe(4);
    await expect(gatewayOnly(scaler)).rejects.toThrow(/forbidden/i);
  });

  test("the reason of a hold is returned beside the reason of the last scaling", async () => {
    const { get, scaler, whole, ref } = await deployed("held");
    const fell = {
      action: "scale",
      replicas: 2,
      because: "load-fell",
      message: "2 for 80 a second. 3 since noon",
    } as const;
    await applyScale(scaler, await get(), fell, () => 1_750_000_000_000);
    const { scaled } = await get();
    const held = scaledBecause("DownWindow", "2 are kept, 1 would do", 1_750_000_100_000);
    expect(await applyHeld(scaler, await get(), held)).toBe(true);
    expect(await get()).toMatchObject({ replicas: 2, scaled, held });
    expect(await applyHeld(scaler, await get(), undefined)).toBe(true);
    expect(await get()).toMatchObject({ replicas: 2, scaled });
    expect((await get()).held).toBeUndefined();

    await applyHeld(scaler, await get(), held);
    await scaleFunction(whole, ref, 3, 0);
    expect((await get()).scaled?.reason).toBe("Requested");
    expect((await get()).held).toBeUndefined();
  });

  test("the reason of a hold is returned alone for a function that was never scaled", async () => {
    const { get, scaler } = await deployed("unscaled");
    const held = scaledBecause("InUse", "Not scaled to zero: 1 call is under way", 1_750_000_000_000);
    const before = await get();
    await applyHeld(scaler, before, held);
    expect(await get()).toEqual({ ...before, held });
    await applyHeld(scaler, await get(), undefined);
    expect(await get()).toEqual(before);
  });

  test("another autoscaler that writes the count is named until Weir writes it, a person is not", async () => {
    const { get, kubectl, object, scaler, deploy, ref, whole } = await deployed("contended");
    const scaleAs = (replicas: number, manager: string) =>
      kubectl(
        "patch",
        "functions.service.com/contended",
        "--subresource=scale",
        "--type=merge",
        `--field-manager=${manager}`,
        `--patch={"spec":{"replicas":${replicas}}}`,
      );
    await kubectl("scale", "functions.service.com/contended", "--replicas=2");
    expect((await get()).externalScaler).toBeUndefined();
    await scaleAs(3, "kube-controller-manager");
    expect(await get()).toMatchObject({ replicas: 3, externalScaler: "kube-controller-manager" });

    const { generation } = await get();
    const held = scaledBecause("ExternalAutoscaler", "Scaled by another", 1_750_000_000_000);
    expect(await applyHeld(scaler, await get(), held)).toBe(true);
    expect((await object()).status?.conditions).toMatchObject([{ type: "Scaling", reason: "ExternalAutoscaler" }]);
    // A write that does not change the count leaves the external autoscaler in place.
    await deploy({ image: "example/image:2" });
    expect(await get()).toMatchObject({
      replicas: 3,
      generation: generation + 1,
      externalScaler: "kube-controller-manager",
    });

    await scaleFunction(whole, ref, 4, 0);
    expect((await get()).externalScaler).toBeUndefined();
    await scaleAs(5, "keda");
    expect((await get()).externalScaler).toBe("keda");
  });

  test("a queue-worker wakes a function, and may write nothing else", async () => {
    const { get, waker, ref, whole, object } = await deployed("scaled-to-zero");
    await scaleFunction(whole, ref, 0, 0);
    expect(await get()).toMatchObject({ replicas: 0, scaled: { reason: "Requested" } });
    await scaleFunction(waker, ref, 1, 0);
    const woken = await get();
    expect(woken.replicas).toBe(1);
    expect(woken.scaled?.message).toBe("Scaled to 1 by other means than a request");
    expect((await object()).status?.conditions ?? []).toEqual([]);
    const status = { metadata: { ...ref }, status: { conditions: [] } };
    await expect(worker.apply(kinds.function, status, { ...ref, subresource: "status" })).rejects.toThrow(/forbidden/i);
    await expect(worker.patch(kinds.function, "merge", { spec: { image: "x" } }, ref)).rejects.toThrow(/forbidden/i);
  });
});

/** Attempts a write that only the gateway may make. */
async function gatewayOnly(store: KubeFunctionStore): Promise<unknown> {
  const [namespace] = fixture.namespaces;
  const ref = { namespace, name: "new" };
  return store.write(ref, () =>
    desireFunction(undefined, namespace, { ...full, service: "new" }, new Date().toISOString()),
  );
}
