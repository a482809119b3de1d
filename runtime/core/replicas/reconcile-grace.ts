import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { functionLimits, runTimeout, type FunctionLimits } from "../functions/function-limits.ts";

/** Between the end of the longest call and the end of its replica. */
const margin = 1_000;

/** What a deployment says of time. */
export type TimedDeployment = Pick<FunctionDeployment, "annotations" | "envVars">;

/**
 * Milliseconds a stopping replica gets: as long as its longest call may take, synchronous or queued, and a second more.
 * That is the longer of the platform's longest and `com.service.timeout`, or `exec_timeout` + 1 s if less. What cannot be
 * read counts as not said.
 */
export function replicaGrace(deployment: TimedDeployment, longestCall: number): number {
  const own = ownTimes(deployment);
  return runTimeout(longestCall, Number.POSITIVE_INFINITY, own) + margin;
}

/** Milliseconds that a call of the function may take at most, but for its `exec_timeout`. */
export function longestCallOf(deployment: TimedDeployment, longestCall: number): number {
  return Math.max(longestCall, ownTimes(deployment).timeout ?? 0);
}

function ownTimes(deployment: TimedDeployment): Pick<FunctionLimits, "execTimeout" | "timeout"> {
  // Refused at deploy; a record from elsewhere must not keep its replica from being stopped.
  const { annotations, envVars } = deployment;
  return {
    execTimeout: readable(envVars === undefined ? {} : { envVars })?.execTimeout,
    timeout: readable(annotations === undefined ? {} : { annotations })?.timeout,
  };
}

function readable(deployment: TimedDeployment): FunctionLimits | undefined {
  try {
    return functionLimits(deployment);
  } catch {
    return undefined;
  }
}
