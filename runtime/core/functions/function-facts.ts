import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { usableScaleRules, type ScaleRules } from "../scaling/scale-rules.ts";
import type { DesiredFunction } from "./desired-function.ts";
import { functionLimits, type FunctionLimits } from "./function-limits.ts";

/**
 * What the platform parses from one deployment. It is parsed when the function is seen and kept beside it, so that a
 * newer deployment replaces both.
 */
export interface FunctionFacts {
  readonly scale: ScaleRules;
  /** The error when they are unusable, as an older version may have accepted them: who may call is unknown then. */
  readonly limits: FunctionLimits | PlatformError;
}

/** A desired function, and what was parsed from it. */
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
