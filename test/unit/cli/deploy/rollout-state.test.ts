import { describe, expect, test } from "vitest";

import type { Condition } from "../../../../runtime/api/schemas/function-status.ts";
import { rolloutState } from "../../../../runtime/cli/deploy/rollout/rollout-state.ts";
import { conditionOf as condition, functionStatusOf } from "../../../support/function-status-of.ts";

const stateOf = (...conditions: readonly Condition[]) =>
  rolloutState(functionStatusOf({ service: "hello", image: "a" }, { generation: 3, conditions: [...conditions] }), 3);

const [stalled, unhealthy] = [condition("Stalled", "True", "CrashLoop"), condition("Healthy", "False")];

describe("a deployment", () => {
  test("that is reconciled is ready", () => {
    expect(stateOf(condition("Reconciling", "False"), condition("Stalled", "False"))).toMatchObject({ kind: "ready" });
  });

  test("whose last replicas of before are stopping is ready", () => {
    expect(stateOf(condition("Reconciling", "True", "Stopping"))).toMatchObject({ kind: "ready" });
  });

  test("that the provider has not seen is none of the states of the one before", () => {
    expect(
      stateOf(condition("Ready", "True"), stalled, unhealthy, condition("Reconciling", "True", "Pending")),
    ).toEqual({
      kind: "waiting",
      message: "Reconciling is True: Pending",
    });
  });

  test("that is stalled and unhealthy needs a person", () => {
    expect(stateOf(stalled, unhealthy, condition("Reconciling", "True"))).toEqual({
      kind: "stalled",
      message: "Stalled is True: CrashLoop",
    });
  });

  test("that is stalled for a reason that passes is waited for", () => {
    const away = condition("Stalled", "True", "ProviderUnavailable");
    expect(stateOf(away, unhealthy, condition("Reconciling", "True"))).toEqual({
      kind: "waiting",
      message: away.message,
    });
  });

  test("that is stalled while replicas work is waited for", () => {
    expect(stateOf(stalled, condition("Healthy", "True"), condition("Reconciling", "True"))).toEqual({
      kind: "waiting",
      message: stalled.message,
    });
  });

  test("that goes on says what is wrong, else what is going on", () => {
    const going = condition("Reconciling", "True", "Starting");
    expect(stateOf(unhealthy, going)).toMatchObject({ message: unhealthy.message });
    expect(stateOf(condition("Healthy", "True"), going)).toMatchObject({ message: going.message });
    expect(stateOf()).toMatchObject({ kind: "waiting" });
  });

  test("that was replaced or removed is not waited for", () => {
    expect(rolloutState(functionStatusOf({ service: "hello", image: "a" }, { generation: 4 }), 3)).toMatchObject({
      kind: "replaced",
    });
    expect(rolloutState(undefined, 3)).toMatchObject({ kind: "replaced", message: "it was removed meanwhile" });
  });
});
