import { expect, test } from "vitest";

import { CannotAskError } from "../../../../infra/rollout/cluster-look.ts";
import { awaitRollout } from "../../../../infra/rollout/await-rollout.ts";

const wanted = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "operator", namespace: "weir" },
  spec: { template: { spec: { containers: [{ name: "operator", image: "weir:2" }] } } },
};
const live = (observedGeneration: number, image = "weir:2") => ({
  metadata: { generation: 2 },
  spec: { replicas: 1, template: { spec: { containers: [{ name: "operator", image }] } } },
  status: { observedGeneration, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
});

/** Returns these outcomes one after the other, then the last one for ever. */
function looks(...outcomes: readonly (object | Error)[]) {
  let count = 0;
  const look = (): Promise<Readonly<Record<string, unknown>>> => {
    const outcome = outcomes[Math.min(count++, outcomes.length - 1)] ?? {};
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve({ ...outcome });
  };
  return { look, count: () => count };
}

test("looks until all is done, even if the cluster does not respond for a while", async () => {
  const { look, count } = looks(live(1), new Error("connection refused"), live(1), live(2));
  await awaitRollout(wanted, { look, within: 1, every: 0, now: () => 0 });
  expect(count()).toBe(4);
});

test("fails when its time is over, and says what is missing", async () => {
  let now = 0;
  const wait = { within: 180_000, every: 0, now: () => (now += 60_000) };
  await expect(awaitRollout(wanted, { ...wait, ...looks(live(1)) })).rejects.toThrow(
    'Cannot continue after Deployment "operator" in "weir": the cluster has not looked at the change yet after 180 s',
  );
  await expect(awaitRollout(wanted, { ...wait, ...looks(new Error("refused")) })).rejects.toThrow(
    /the cluster does not reply: refused after 180 s/,
  );
});

test("fails at once when waiting does not help", async () => {
  const { look, count } = looks(live(2, "weir:wrong"));
  await expect(awaitRollout(wanted, { look, within: 180_000, now: () => 0 })).rejects.toThrow(
    'it runs image "weir:wrong" instead of "weir:2"; the state of the stack is out of date: run pulumi up --refresh',
  );
  expect(count()).toBe(1);
  const missing = looks(new CannotAskError("the command kubectl is not on PATH"));
  await expect(awaitRollout(wanted, { look: missing.look, within: 180_000, now: () => 0 })).rejects.toThrow(
    "the command kubectl is not on PATH",
  );
  expect(missing.count()).toBe(1);
});

test("fails with the words of the registry when an image could not be pulled twice, long before its time is over", async () => {
  let now = 0;
  const waiting = { reason: "ImagePullBackOff", message: 'Back-off pulling image "weir:2": ErrImagePull: not found' };
  const pod = {
    metadata: { name: "operator-1" },
    spec: { containers: [{ name: "operator", image: "weir:2" }] },
    status: { containerStatuses: [{ name: "operator", state: { waiting } }] },
  };
  const starting = { ...live(2), status: { observedGeneration: 2 } };
  const wait = { within: 180_000, every: 0, now: () => (now += 1_000), lookAtPods: () => Promise.resolve([pod]) };
  await expect(awaitRollout(wanted, { ...wait, ...looks(starting) })).rejects.toThrow(
    'Deployment "operator" in "weir": pod "operator-1" cannot pull image "weir:2": not found',
  );
  expect(now).toBeGreaterThan(15_000);
  expect(now).toBeLessThan(40_000);

  // The first attempt failed, the second one did not.
  const attempts = [[pod], []];
  await awaitRollout(wanted, {
    ...wait,
    ...looks(starting, starting, live(2)),
    lookAtPods: () => Promise.resolve(attempts.shift() ?? []),
  });
});

test("an object of the platform's own is judged by its conditions", async () => {
  const object = { ...wanted, apiVersion: "service.com/v1", kind: "Function", spec: { image: "hello:2" } };
  const stalled = { type: "Stalled", status: "True", reason: "Invalid", message: "exec_timeout: too long" };
  const { look } = looks({ spec: object.spec, metadata: {}, status: { conditions: [stalled] } });
  await expect(awaitRollout(object, { look, within: 180_000 })).rejects.toThrow(
    'Cannot continue after Function "operator" in "weir": exec_timeout: too long',
  );
});
