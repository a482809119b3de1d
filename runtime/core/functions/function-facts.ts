import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { usableScaleRules, type ScaleRules } from "../scaling/scale-rules.ts";
import type { DesiredFunction } from "./desired-function.ts";
import { functionLimits, type FunctionLimits } from "./function-limits.ts";

/**
 * What the platform reads from the texts of one deployment. It is read when the function is seen and lies beside it, where
 * a newer deployment replaces both.
 */
export interface FunctionFacts {
  readonly scale: ScaleRules;
  /** The error when they cannot be used, as an older version may have let in: who may call cannot be known then. */
  readonly limits: FunctionLimits | PlatformError;
}

/** A function as it is desired, and what was read from it then. */
export interface SeenFunction {
  readonly wanted: DesiredFunction;
  readonly facts: FunctionFacts;
}

export function readFacts(deployment: FunctionDeployment): FunctionFacts {
  return { scale: usableScaleRules(deployment.labels), limits: readLimits(deployment) };
}

/** @throws PlatformError `validation_failed` when they cannot be used */
export function limitsIn({ limits }: FunctionFacts): FunctionLimits {
  if (limits instanceof PlatformError) throw limits;
  return limits;
}

function readLimits(deployment: FunctionDeployment): FunctionFacts["limits"] {
  try {
    return functionLimits(deployment);
  } catch (err) {
    if (err instanceof PlatformError) return err;
    throw err;
  }
}
