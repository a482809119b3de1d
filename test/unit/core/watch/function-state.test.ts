import { expect, test } from "vitest";

import type { Condition } from "../../../../runtime/api/schemas/function-status.ts";
import { functionState, stateSince } from "../../../../runtime/core/watch/function-state.ts";

const condition = (type: Condition["type"], status: Condition["status"], second = 0): Condition => ({
  type,
  status,
  reason: "Reason",
  message: "A sentence",
  lastTransitionTime: `2026-01-31T12:00:${String(second).padStart(2, "0")}.900Z`,
});
const stalled = condition("Stalled", "True");

test.each([
  [1, 1, [], "ready"],
  [0, 0, [], "scaled_to_zero"],
  [1, 0, [], "starting"],
  [3, 1, [], "degraded"],
  [1, 2, [], "stopping"],
  [0, 1, [], "stopping"],
  [1, 1, [condition("Stalled", "False")], "ready"],
  [1, 1, [condition("Ready", "True")], "ready"],
  [1, 0, [stalled], "stalled"],
  [1, 1, [stalled], "stalled"],
  [0, 0, [stalled], "stalled"],
] as const)("%d wanted and %d ready of %j is %s", (wanted, ready, conditions, state) => {
  expect(functionState({ wanted, ready, conditions })).toBe(state);
});

test("a state began when a condition of it changed last, or the function was created", () => {
  const created = "2026-01-31T12:00:00.000Z";
  const at = Date.parse(created) / 1_000;
  expect(stateSince([], created)).toBe(at);
  expect(stateSince([condition("Ready", "True", 5), condition("Reconciling", "False", 9)], created)).toBe(at + 9);
  for (const type of ["Ready", "Healthy", "Reconciling", "Stalled"] as const)
    expect(stateSince([condition(type, "True", 7)], created), type).toBe(at + 7);
  // Why there are so many replicas says nothing of what they do.
  expect(stateSince([condition("Ready", "True", 5), condition("Scaling", "True", 30)], created)).toBe(at + 5);
  expect(stateSince([], "never")).toBe(0);
});
