import type { ScaleDecision } from "./decide-scale.ts";
import {
  scaledBecause,
  withReplicas,
  type DesiredFunction,
  type ScaledBecause,
} from "../functions/desired-function.ts";
import type { FunctionStore } from "../ports/function-store.ts";
import { scaleBounds } from "./scale-bounds.ts";

class Overtaken extends Error {}

const reasons = {
  idle: "Idle",
  "below-min": "BelowMinimum",
  "above-max": "AboveMaximum",
  "load-rose": "LoadRose",
  "load-fell": "LoadFell",
} as const satisfies Record<(ScaleDecision & { action: "scale" })["because"], string>;

/**
 * Sets the replicas of a function by a decision, within its bounds. Resolves with false, and nothing written, if the
 * function was changed since it was `seen`.
 * @throws PlatformError `provider_unavailable` when the store cannot be reached
 */
export async function applyScale(
  functions: FunctionStore,
  seen: DesiredFunction,
  decision: ScaleDecision & { readonly action: "scale" },
  now: () => number = Date.now,
): Promise<boolean> {
  return changeSeen(functions, seen, (current) => {
    const { min, max } = scaleBounds(current.deployment.labels);
    const replicas = decision.replicas === 0 ? 0 : Math.min(Math.max(decision.replicas, min), max);
    return withReplicas(current, replicas, scaledBecause(reasons[decision.because], decision.message, now()));
  });
}

/**
 * Notes what holds the replicas of a function, or that nothing does. Resolves with false, and nothing written, if the
 * function was changed since it was `seen`.
 * @throws PlatformError `provider_unavailable` when the store cannot be reached
 */
export async function applyHeld(
  functions: FunctionStore,
  seen: DesiredFunction,
  held: ScaledBecause | undefined,
): Promise<boolean> {
  return changeSeen(functions, seen, (current) => ({ ...current, held }));
}

async function changeSeen(
  functions: FunctionStore,
  seen: DesiredFunction,
  change: (current: DesiredFunction) => DesiredFunction,
): Promise<boolean> {
  try {
    await functions.write({ namespace: seen.namespace, name: seen.name }, (current) => {
      if (current === undefined || !isSame(current, seen)) throw new Overtaken();
      return change(current);
    });
    return true;
  } catch (err) {
    if (err instanceof Overtaken) return false;
    throw err;
  }
}

function isSame(a: DesiredFunction, b: DesiredFunction): boolean {
  return (
    a.replicas === b.replicas &&
    a.generation === b.generation &&
    a.createdAt === b.createdAt &&
    a.scaled?.at === b.scaled?.at
  );
}
