import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { functionLimits, runTimeout, type FunctionLimits } from "../functions/function-limits.ts";

/** Milliseconds between the end of the longest call and the end of its replica. */
const margin = 1_000;

/** The parts of a deployment that set timeouts. */
export type TimedDeployment = Pick<FunctionDeployment, "annotations" | "envVars">;

/**
 * Milliseconds a stopping replica gets: as long as its longest call may take, synchronous or queued, and a second more.
 * That is the longer of the platform's longest and `com.service.timeout`, or `exec_timeout` + 1 s if less. Values that
 * cannot be read count as absent.
 */
export function replicaGrace(deployment: TimedDeployment, longestCall: number): number {
  const own = ownTimes(deployment);
  return runTimeout(longestCall, Number.POSITIVE_INFINITY, own) + margin;
}

/** Milliseconds that a call of the function may take at most, regardless of its `exec_timeout`. */
export function longestCallOf(deployment: TimedDeployment, longestCall: number): number {
  return Math.max(longestCall, ownTimes(deployment).timeout ?? 0);
}

function ownTimes(deployment: TimedDeployment): Pick<FunctionLimits, "execTimeout" | "timeout"> {
  // Unreadable values are refused at deploy; a record from elsewhere must not keep its replica from being stopped.
  const { annotations, envVars } = deployment;
  return {
    execTimeout: limitsOf(envVars === undefined ? {} : { envVars })?.execTimeout,
    timeout: limitsOf(annotations === undefined ? {} : { annotations })?.timeout,
  };
}

function limitsOf(deployment: TimedDeployment): FunctionLimits | undefined {
  try {
    return functionLimits(deployment);
  } catch {
    return undefined;
  }
}
