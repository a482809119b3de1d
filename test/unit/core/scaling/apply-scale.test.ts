import { expect, test } from "vitest";

import { MemoryFunctionStore } from "../../../support/memory/memory-function-store.ts";
import { applyHeld, applyScale } from "../../../../runtime/core/scaling/apply-scale.ts";
import type { ScaleDecision } from "../../../../runtime/core/scaling/decide-scale.ts";
import { desireFunction, type DesiredFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { wakeReplicas } from "../../../../runtime/core/scaling/wake-replicas.ts";

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

test.each<[what: string, other: Partial<DesiredFunction>]>([
  ["replicas", { replicas: 2 }],
  ["deployment", { generation: 7 }],
  ["life", { createdAt: "2026-01-02T00:00:00Z" }],
  ["reason", { scaled: { reason: "Woken", message: "m", at: "2026-01-01T00:00:01.000Z" } }],
])("other %s than seen: left alone, and nothing is noted", async (_what, other) => {
  const functions = new MemoryFunctionStore();
  const seen = await deployed(functions);
  await functions.write(ref, () => ({ ...seen, ...other }));
  const held = { reason: "DownWindow", message: "m", at: "2026-01-01T00:00:01.000Z" };
  expect(await applyScale(functions, seen, scale(3))).toBe(false);
  expect(await applyHeld(functions, seen, held)).toBe(false);
  expect(await functions.get(ref)).toEqual({ ...seen, ...other });
});

test("the reason that holds replicas is noted, and removed by the next change", async () => {
  const functions = new MemoryFunctionStore();
  const seen = await deployed(functions);
  const held = { reason: "DownWindow", message: "m", at: "2026-01-01T00:00:01.000Z" };
  expect(await applyHeld(functions, seen, held)).toBe(true);
  expect(await functions.get(ref)).toEqual({ ...seen, held });
  expect(await applyScale(functions, seen, scale(3))).toBe(true);
  expect((await functions.get(ref))?.held).toBeUndefined();
});

test("an unavailable store is an error, not a conflict", async () => {
  const functions = new MemoryFunctionStore();
  const seen = await deployed(functions);
  const away = Object.assign(new MemoryFunctionStore(), { write: () => Promise.reject(new Error("away")) });
  await expect(applyScale(away, seen, scale(3))).rejects.toThrow("away");
});

test("counts stay within the bounds of the current labels", async () => {
  const functions = new MemoryFunctionStore();
  const labels = { "com.service.scale.min": "2", "com.service.scale.max": "5" };
  const seen = await functions.write(ref, (current) =>
    desireFunction(current, "functions", { ...deployment, labels }, "2026-01-01T00:00:00Z"),
  );
  expect(await applyScale(functions, seen, scale(1), () => 0)).toBe(true);
  expect((await functions.get(ref))?.replicas).toBe(2);
});

test("only a function at zero is woken, to its minimum, with the reason", async () => {
  const functions = new MemoryFunctionStore();
  const labels = { "com.service.scale.min": "2", "com.service.scale.max": "5" };
  const seen = await functions.write(ref, (current) =>
    desireFunction(current, "functions", { ...deployment, labels }, "2026-01-01T00:00:00Z"),
  );
  await wakeReplicas(functions, ref);
  expect(await functions.get(ref)).toEqual(seen);
  await functions.write(ref, () => ({ ...seen, replicas: 0 }));
  await wakeReplicas(functions, ref, () => 0);
  const scaled = {
    reason: "Woken",
    message: "A call came while it was scaled to zero",
    at: "1970-01-01T00:00:00.000Z",
  };
  expect(await functions.get(ref)).toEqual({ ...seen, replicas: 2, scaled });
  await expect(wakeReplicas(functions, { ...ref, name: "none" })).rejects.toMatchObject({
    code: "function_not_found",
    message: 'Cannot wake function "none.functions": it does not exist',
  });
});
