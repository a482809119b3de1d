import { functionLimits } from "./function-limits.ts";
import type { FunctionDeployment } from "../api/function-deployment.ts";

/** Between the end of the longest call and the end of its replica. */
const margin = 1_000;

/**
 * Milliseconds a stopping replica gets: as long as its longest call may take, `exec_timeout` + 1 s or else
 * `upstream_timeout`, and a second more. An unreadable `exec_timeout` counts as none.
 */
export function replicaGrace(deployment: Pick<FunctionDeployment, "envVars">, upstreamTimeout: number): number {
  const execTimeout = execTimeoutOf(deployment);
  return (execTimeout === undefined || execTimeout === 0 ? upstreamTimeout : execTimeout + margin) + margin;
}

function execTimeoutOf(deployment: Pick<FunctionDeployment, "envVars">): number | undefined {
  try {
    return functionLimits(deployment.envVars === undefined ? {} : { envVars: deployment.envVars }).execTimeout;
  } catch {
    // Refused at deploy; a record from elsewhere must not keep its replica from being stopped.
    return undefined;
  }
}
