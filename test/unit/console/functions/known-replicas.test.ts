import { expect, test } from "vitest";

import { knownReplicas } from "../../../../runtime/console/pages/functions/scaling/known-replicas.ts";

const scaling = (at: number, to: number) => ({
  at: new Date(at).toISOString(),
  from: 0,
  to,
  reason: "load",
  message: "",
});

test("replicas are what was counted, else what the last change made of them", () => {
  const times = [0, 10, 20, 30, 40, 50];
  const scalings = [scaling(41, 0), scaling(12, 3)];

  expect(knownReplicas({ replicas: [null, null, null, 2, null, null], scalings }, times, 10)).toEqual([
    null,
    3,
    3,
    2,
    0,
    0,
  ]);
});

test("nothing is known before the first count", () => {
  expect(knownReplicas({ replicas: [null, 0, null], scalings: [] }, [0, 10, 20], 10)).toEqual([null, 0, 0]);
});
