import type { FunctionDeployment } from "../api/function-deployment.ts";
import { callLimit, functionLimits } from "./function-limits.ts";

/** Between the end of the longest call and the end of its replica. */
const margin = 1_000;

/**
 * Milliseconds a stopping replica gets: as long as its longest call may take, the platform's longest or `exec_timeout`
 * + 1 s if less, and a second more. An unreadable `exec_timeout` counts as none.
 */
export function replicaGrace(deployment: Pick<FunctionDeployment, "envVars">, longestCall: number): number {
  const platform = { timeout: longestCall, timeoutName: "upstream_timeout" };
  return callLimit(platform, { execTimeout: execTimeoutOf(deployment) }).timeout + margin;
}

function execTimeoutOf(deployment: Pick<FunctionDeployment, "envVars">): number | undefined {
  try {
    return functionLimits(deployment.envVars === undefined ? {} : { envVars: deployment.envVars }).execTimeout;
  } catch {
    // Refused at deploy; a record from elsewhere must not keep its replica from being stopped.
    return undefined;
  }
}
