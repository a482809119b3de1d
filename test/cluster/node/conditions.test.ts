import { afterAll, beforeAll, expect, test } from "vitest";

import { loadBaseImage } from "../../support/cluster-images.ts";
import { openOperatedCluster, type OperatedCluster } from "../../support/cluster-operator.ts";
import { condition, isReady, isStalled, operatedFunctions } from "../../support/operated-functions.ts";

/** Conditions of Function objects whose pods a real kubelet runs, or cannot run. */
let opened: OperatedCluster;
let image: string;

beforeAll(async () => {
  opened = await openOperatedCluster();
  image = await loadBaseImage(opened.cluster);
}, 120_000);
afterAll(async () => {
  await opened?.close();
  expect(opened?.operators[0].mishaps ?? []).toEqual([]);
});

const { apply, shows, kubectl } = operatedFunctions(
  () => opened,
  () => image,
);
/** The kubelet takes some time to notice. */
const timeout = 60_000;

test("an image that cannot be pulled", async () => {
  await apply("pictureless", { image: "registry.invalid/none:1" });
  const object = await shows("pictureless", "a condition", isStalled, timeout);
  expect(condition(object, "Stalled")).toMatchObject({
    reason: expect.stringMatching(/Image/),
    message: expect.stringContaining("registry.invalid/none:1"),
  });
});

test("a process that ends repeatedly, with its last output", async () => {
  await apply("crasher", { environment: { mode: "http" }, handler: "sh -c 'echo out of luck >&2; exit 3'" });
  const object = await shows("crasher", "a crash loop", isStalled, timeout);
  expect(condition(object, "Stalled")).toMatchObject({
    reason: "CrashLoopBackOff",
    message: expect.stringContaining("out of luck"),
  });
});

test("a process that takes more memory than its limit", async () => {
  const eat = "const all = []; for (;;) all.push(Buffer.alloc(1e7, 1));";
  await apply("hungry", {
    environment: { mode: "http" },
    handler: `node -e '${eat}'`,
    limits: { memory: "64Mi" },
    requests: { memory: "64Mi" },
  });
  const object = await shows("hungry", "too little memory", isStalled, timeout);
  expect(condition(object, "Stalled")?.message).toMatch(/memory/);
});

test("a missing secret, until it exists", async () => {
  await apply("secretive", { handler: "cat /var/service/secrets/token", secrets: ["token"] });
  const object = await shows("secretive", "a missing secret", isStalled, timeout);
  expect(condition(object, "Stalled")).toMatchObject({
    reason: "SecretNotFound",
    message: expect.stringContaining('secret "token" does not exist'),
  });
  await kubectl("create", "secret", "generic", "token", "--from-literal=token=1");
  await shows("secretive", "a ready function", isReady, 150_000);
}, 200_000);
