import { expect, test } from "vitest";

import type { Condition, FunctionStatus } from "../../../../runtime/api/schemas/function-status.ts";
import {
  conditionTone,
  functionSentence,
} from "../../../../runtime/console/pages/functions/status/function-sentence.ts";

const condition = (type: Condition["type"], status: Condition["status"], message: string): Condition => ({
  type,
  status,
  reason: "Reason",
  message,
  lastTransitionTime: "2026-01-31T12:00:00.000Z",
});
const statusWith = (conditions: readonly Condition[], replicas = 1, availableReplicas = 1): FunctionStatus =>
  ({ replicas, availableReplicas, conditions }) as unknown as FunctionStatus;

test("what a person has to act on comes first", () => {
  const status = statusWith(
    [
      condition("Ready", "False", "0 of 1 replicas are ready"),
      condition("Reconciling", "True", "The next attempt comes in 10 s"),
      condition("Stalled", "True", 'Cannot start "x": no such file'),
    ],
    1,
    0,
  );

  expect(functionSentence(status)).toEqual({
    tone: "bad",
    state: "Stalled",
    sentence: 'Cannot start "x": no such file. 0 of 1 replicas are ready',
  });
});

test("a ready one says how many, and why so many", () => {
  const status = statusWith([
    condition("Ready", "True", "1 of 1 replicas is ready"),
    condition("Reconciling", "False", "All desired replicas are ready"),
    condition("Stalled", "False", "Nothing is in the way"),
    condition("Scaling", "True", "As deployed: scale.min is 1"),
  ]);

  expect(functionSentence(status)).toEqual({
    tone: "good",
    state: "Ready",
    sentence: "1 of 1 replicas is ready. As deployed: scale.min is 1",
  });
});

test("one that was just deployed is not silent", () => {
  expect(functionSentence(statusWith([], 1, 0)).sentence).toBe("Nothing is known of it yet");
});

test("some conditions are good when they are false", () => {
  expect(conditionTone(condition("Stalled", "False", ""))).toBe("good");
  expect(conditionTone(condition("Stalled", "True", ""))).toBe("bad");
  expect(conditionTone(condition("Ready", "False", ""))).toBe("warn");
  expect(conditionTone(condition("Reconciling", "True", ""))).toBe("busy");
  expect(conditionTone(condition("Ready", "Unknown", ""))).toBe("off");
});
