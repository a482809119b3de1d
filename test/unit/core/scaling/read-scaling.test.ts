import { expect, test } from "vitest";

import { scaledBecause, type DesiredFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { isHeldReason } from "../../../../runtime/core/scaling/held-back.ts";
import { readScaling, scalingCondition } from "../../../../runtime/core/scaling/scaling-condition.ts";

const base: DesiredFunction = {
  name: "f",
  namespace: "functions",
  deployment: { service: "f", image: "none" },
  replicas: 3,
  generation: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
};
const scaled = scaledBecause("LoadRose", "3 for 120 a second. 2 since noon: too few", 1_750_000_000_000);
const held = scaledBecause("DownWindow", "3 are kept, 1 would do: 60 s are not over", 1_750_000_100_000);

test.each([
  ["as deployed", {}],
  ["scaled", { scaled }],
  ["held as deployed", { held }],
  ["held and scaled", { scaled, held }],
])("condition Scaling is read back: %s", (_, given) => {
  expect(readScaling(scalingCondition({ ...base, ...given }))).toEqual(given);
});

test("a hold is shown from its first moment to its last, with the reason for the count", () => {
  const hold = { by: "scale-function", until: "2026-01-01T00:05:00.000Z" } as const;
  const requested = {
    ...base,
    scaled: scaledBecause("Requested", "Scaled to 3 by request", Date.parse(base.createdAt)),
    hold,
  };
  const onHold = scalingCondition(requested, Date.parse(hold.until) - 1);
  expect(onHold).toMatchObject({
    reason: "OnHold",
    message:
      "Held at 3 until 2026-01-01T00:05:00.000Z by scale-function. " +
      "3 since 2026-01-01T00:00:00.000Z (Requested): Scaled to 3 by request",
    lastTransitionTime: base.createdAt,
  });
  expect(readScaling(onHold)).toMatchObject({ scaled: requested.scaled, held: { reason: "OnHold" } });
  const noted = { ...requested, held: readScaling(onHold).held };
  expect(scalingCondition(noted, Date.parse(hold.until))).toMatchObject({
    reason: "Requested",
    message: "Scaled to 3 by request",
  });
});

test("an external autoscaler is shown from the first moment to the last, also with a fixed count", () => {
  const labels = { "com.service.scale.min": "3", "com.service.scale.max": "3" };
  const fixed = { ...base, deployment: { ...base.deployment, labels }, scaled };
  const external = scalingCondition({ ...fixed, externalScaler: "kube-controller-manager" });
  expect(external).toMatchObject({
    status: "True",
    reason: "ExternalAutoscaler",
    message: expect.stringMatching(
      /^Scaled by "kube-controller-manager", and left alone by the autoscaler of Weir\. 3 since /,
    ),
  });
  expect(readScaling(external)).toMatchObject({ scaled, held: { reason: "ExternalAutoscaler" } });
  const over = { ...fixed, held: readScaling(external).held };
  expect(scalingCondition(over)).toMatchObject({ status: "False", reason: "LoadRose", message: scaled.message });
});

test("a message that somebody else wrote is kept as it is", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const condition = { reason: "InUse", message: "whatever", lastTransitionTime: at };
  expect(readScaling(condition)).toEqual({ held: { reason: "InUse", message: "whatever", at } });
});

test("no reason for a change is a reason for holding", () => {
  for (const reason of ["Idle", "BelowMinimum", "AboveMaximum", "LoadRose", "LoadFell", "Requested", "Alert", "Woken"])
    expect(isHeldReason(reason)).toBe(false);
});

test("many replicas are read back, too", () => {
  const given = { scaled, held };
  expect(readScaling(scalingCondition({ ...base, replicas: 120, ...given }))).toEqual(given);
});

test("another scaler has the count since it was last changed, or since the deployment", () => {
  const since = (given: Partial<DesiredFunction>) =>
    scalingCondition({ ...base, externalScaler: "keda", updatedAt: "2026-02-01T00:00:00.000Z", ...given })
      .lastTransitionTime;
  expect(since({ scaled })).toBe(scaled.at);
  expect(since({})).toBe("2026-02-01T00:00:00.000Z");
});
