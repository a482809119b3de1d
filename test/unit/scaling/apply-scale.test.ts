import { expect, test } from "vitest";

import { MemoryFunctionStore } from "../../../runtime/adapters/memory/memory-function-store.ts";
import { applyScale } from "../../../runtime/core/apply-scale.ts";
import type { ScaleDecision } from "../../../runtime/core/decide-scale.ts";
import { desireFunction, type DesiredFunction } from "../../../runtime/core/desired-function.ts";
import { wakeReplicas } from "../../../runtime/core/wake-replicas.ts";

const ref = { namespace: "functions", name: "echo" };
const deployment = { service: "echo", image: "none", labels: { "com.service.scale.max": "5" } };
const scale = (replicas: number, because: "idle" | "load-rose" = "load-rose") =>
  ({ action: "scale", replicas, because, message: "for a reason" }) as const satisfies ScaleDecision;

async function deployed(functions: MemoryFunctionStore): Promise<DesiredFunction> {
  return functions.write(ref, (current) => desireFunction(current, "functions", deployment, "2026-01-01T00:00:00Z"));
}

test("writes the count, within bounds, with its reason, and nothing else", async () => {
  const functions = new MemoryFunctionStore();
  const seen = await deployed(functions);
  expect(await applyScale(functions, seen, scale(9), () => 0)).toBe(true);
  const scaled = { reason: "LoadRose", message: "for a reason", at: "1970-01-01T00:00:00.000Z" };
  expect(await functions.get(ref)).toEqual({ ...seen, replicas: 5, scaled });
});

test("a function that somebody changed since it was seen, or that is gone, is left alone", async () => {
  const functions = new MemoryFunctionStore();
  const first = await deployed(functions);
  const second = await deployed(functions);
  expect(await applyScale(functions, first, scale(0, "idle"))).toBe(false);
  expect(await applyScale(functions, second, scale(0, "idle"), () => 1)).toBe(true);
  await wakeReplicas(functions, ref, () => 2);
  // One replica as before, and yet it was woken in between.
  expect(await applyScale(functions, second, scale(0, "idle"))).toBe(false);
  expect((await functions.get(ref))?.replicas).toBe(1);
  await functions.remove(ref);
  expect(await applyScale(functions, second, scale(3))).toBe(false);
  expect(await functions.get(ref)).toBeUndefined();
});
