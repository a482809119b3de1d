import { expect, test } from "vitest";

import { MemoryFunctionStore } from "../../../support/memory/memory-function-store.ts";
import { applyHeld } from "../../../../runtime/core/scaling/apply-scale.ts";
import type { ScaleDecision } from "../../../../runtime/core/scaling/decide-scale.ts";
import { desireFunction, scaledBecause, withReplicas } from "../../../../runtime/core/functions/desired-function.ts";
import { heldBack, HeldReplicas } from "../../../../runtime/core/scaling/held-back.ts";
import { scaleRules } from "../../../../runtime/core/scaling/scale-rules.ts";
import { scalingCondition } from "../../../../runtime/core/scaling/scaling-condition.ts";

const wanted = desireFunction(undefined, "functions", { service: "echo", image: "none" }, "2026-01-01T00:00:00.000Z");
const steady = { action: "keep", because: "steady", message: "is enough" } as const satisfies ScaleDecision;
const window = { action: "keep", because: "down-window", message: "would do, but" } as const satisfies ScaleDecision;
const noted = { ...wanted, held: scaledBecause("DownWindow", "would do, but", 0) };

test.each<[what: string, reason: string | undefined, decision: ScaleDecision]>([
  ["enough load", undefined, steady],
  ["a fixed count", undefined, { action: "keep", because: "fixed", message: "m" }],
  ["sleep", undefined, { action: "keep", because: "scaled-to-zero", message: "m" }],
  ["a change", undefined, { action: "scale", because: "load-fell", replicas: 1, message: "m" }],
  ["an external autoscaler", "ExternalAutoscaler", { action: "keep", because: "external", message: "m" }],
  ["a count on hold", "OnHold", { action: "keep", because: "on-hold", message: "m" }],
  ["scale.down.window", "DownWindow", window],
  ["a load that is not known", "LoadUnknown", { action: "keep", because: "load-unknown", message: "m" }],
  ["a gateway that is missing", "ActivityMissing", { action: "keep", because: "reports-missing", message: "m" }],
  ["a window not yet seen", "NotSeenLongEnough", { action: "keep", because: "window-incomplete", message: "m" }],
  ["a change a moment ago", "RecentlyChanged", { action: "keep", because: "cooldown", message: "m" }],
  ["a call in flight", "InUse", { ...steady, awake: "busy", awakeMessage: "1 call is under way" }],
  ["a call a moment ago", "InUse", { ...steady, awake: "recently-used" }],
  ["enough load and a gateway that is missing", "ActivityMissing", { ...steady, awake: "reports-missing" }],
  ["a call queued", "CallsQueued", { ...steady, awake: "queued", awakeMessage: "1 call is queued" }],
  ["a queue that is not known", "QueueUnknown", { ...steady, awake: "queue-unknown" }],
  ["callers that wait", "Waking", { ...steady, awake: "waking" }],
  ["a function that may not be scaled to zero", undefined, { ...steady, awake: "not-labelled" }],
  ["scale.down.window before a call in flight", "DownWindow", { ...window, awake: "busy" }],
])("%s: reason %s", (_what, reason, decision) => {
  expect(heldBack(decision, true)).toBe(reason);
});

test("more replicas than the minimum are held for the load, not by idle rules", () => {
  expect(heldBack({ ...steady, awake: "busy" }, false)).toBeUndefined();
  expect(heldBack({ ...window, awake: "busy" }, false)).toBe("DownWindow");
});

const rules = scaleRules({});

/** The notes of sweeps, one second apart, with these decisions about one function. */
function notesOf(decisions: readonly ScaleDecision[], seen = wanted) {
  const held = new HeldReplicas(2_000);
  return decisions.map((decision, second) => {
    held.see({ wanted: seen, rules, decision }, second * 1_000, second * 1_000);
    return held.take().map((note) => note.held);
  });
}

test("a reason is noted when it lasts, with the current message, until it is written", () => {
  const held = scaledBecause("DownWindow", "would do, but", 2_000);
  expect(notesOf([window, window, window])).toEqual([[], [], [held]]);
  expect(notesOf([window, steady, window, window])).toEqual([[], [], [], []]);
  expect(notesOf([window, window, window], noted)).toEqual([[], [], []]);
});

test("a reason is withdrawn when it has been over for as long", () => {
  expect(notesOf([steady, window, steady, steady, steady], noted)).toEqual([[], [], [], [], [undefined]]);
});

test("a function that may be scaled to zero says why it is not", () => {
  const decision: ScaleDecision = { ...steady, awake: "busy", awakeMessage: "1 call is under way" };
  expect(notesOf([decision, decision, decision]).at(-1)).toEqual([
    scaledBecause("InUse", "Not scaled to zero: 1 call is under way", 2_000),
  ]);
});

test("at most twenty are noted in a sweep, and the rest in later ones", () => {
  const held = new HeldReplicas(0);
  let left = Array.from({ length: 50 }, (_, index) => ({ ...wanted, name: `f${index}` }));
  const counts = [0, 0, 0].map(() => {
    for (const each of left) held.see({ wanted: each, rules, decision: window }, 0, 0);
    const notes = held.take();
    left = left.slice(notes.length);
    return notes.length;
  });
  expect(counts).toEqual([20, 20, 10]);
});

test("a reason is in the condition Scaling until it is withdrawn, or the replicas change", async () => {
  const functions = new MemoryFunctionStore();
  await functions.write(wanted, () => wanted);
  expect(await applyHeld(functions, wanted, noted.held)).toBe(true);
  const stored = await functions.get(wanted);
  expect(stored && scalingCondition(stored)).toMatchObject({
    reason: "DownWindow",
    message: "would do, but. 1 since 2026-01-01T00:00:00.000Z: As deployed: scale.min is 1",
    lastTransitionTime: "1970-01-01T00:00:00.000Z",
  });
  expect(withReplicas(noted, 2, scaledBecause("Requested", "m", 0)).held).toBeUndefined();
  expect(await applyHeld(functions, { ...wanted, generation: 7 }, undefined)).toBe(false);
  expect(await applyHeld(functions, wanted, undefined)).toBe(true);
  expect(await functions.get(wanted)).toEqual(wanted);
});

test("another reason must last as long as the first", () => {
  const missing = { action: "keep", because: "reports-missing", message: "m" } as const satisfies ScaleDecision;
  expect(notesOf([window, missing, missing, missing])).toEqual([
    [],
    [],
    [],
    [scaledBecause("ActivityMissing", "m", 3_000)],
  ]);
});

test("for more replicas than the minimum there is no reason why they are not scaled to zero", () => {
  const decision: ScaleDecision = { ...steady, awake: "busy", awakeMessage: "1 call is under way" };
  expect(notesOf([decision, decision, decision], { ...wanted, replicas: 2 })).toEqual([[], [], []]);
});

test("a change withdraws the note by itself", () => {
  const change: ScaleDecision = { action: "scale", because: "load-fell", replicas: 1, message: "m" };
  expect(notesOf([change, change, change], noted)).toEqual([[], [], []]);
});
