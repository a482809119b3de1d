import { parseDuration } from "../../../../api/duration.ts";
import { longestCallOf, replicaGrace, type TimedDeployment } from "../../../../core/replicas/reconcile-grace.ts";

/**
 * Seconds between the deletion of a pod and its stop signal: meanwhile gateways and queue-workers learn that it takes
 * no more calls.
 */
export const unpublishSeconds = 2;

const margin = 1_000;

/** How long a pod may take to end. */
export interface PodGrace {
  /** Milliseconds that a container has from its stop signal on, as its watchdog is told. */
  readonly container: number;
  /** Seconds that the pod has from its deletion on. */
  readonly podSeconds: number;
}

/**
 * The grace of a function's pods: its longest call (`exec_timeout`, else the longer of `com.service.timeout` and the
 * platform's `longestCall` in milliseconds), or its `write_timeout` if that is longer, but never more than a call may
 * take without `exec_timeout`. A margin for the end of the call is added.
 */
export function podGrace(deployment: TimedDeployment, longestCall: number): PodGrace {
  const written = parseDuration(deployment.envVars?.["write_timeout"] ?? "") ?? 0;
  const container = Math.max(
    replicaGrace(deployment, longestCall),
    written === 0 ? 0 : Math.min(written, longestCallOf(deployment, longestCall)) + margin,
  );
  return { container, podSeconds: unpublishSeconds + Math.ceil(container / 1_000) };
}
