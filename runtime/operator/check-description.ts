import { parseDeclaredQueue } from "../settings/declared-queue.ts";
import type { Edition } from "../api/editions.ts";
import type { FunctionDeployment } from "../api/schemas/function-deployment.ts";
import { checkDeploymentEdition } from "../core/functions/check-deployment-edition.ts";
import { checkDeployment, checkExecTimeout, checkTimeoutMax } from "../core/functions/check-deployment.ts";
import { functionLimits, type PlatformTimes } from "../core/functions/function-limits.ts";
import { refuseLocalFolder } from "../core/functions/local-folder.ts";

/** The settings that descriptions are checked against. */
export interface DescriptionSettings extends PlatformTimes {
  readonly edition: Edition;
  readonly declaredQueues: readonly string[];
}

/** The longest run of a queued call in milliseconds, by queue; undefined when the queues are not known. */
export function queueTimeouts(declaredQueues: readonly string[]): ReadonlyMap<string, number> | undefined {
  const queues = declaredQueues.flatMap((entry) => parseDeclaredQueue(entry) ?? []);
  return queues.length === 0 ? undefined : new Map(queues.map(({ name, timeout }) => [name, timeout]));
}

/**
 * Applies the rules that a gateway checks before it stores a deployment to one that was written without any gateway.
 * @throws PlatformError `validation_failed`, `edition_limit`
 */
export function checkDescription(deployment: FunctionDeployment, settings: DescriptionSettings): void {
  const { edition, upstreamTimeout, timeoutMax, declaredQueues } = settings;
  checkDeployment(deployment);
  checkTimeoutMax(deployment, timeoutMax);
  checkDeploymentEdition(deployment, edition);
  refuseLocalFolder(deployment);
  const queues = queueTimeouts(declaredQueues);
  if (queues === undefined) return;
  const { queue } = functionLimits(deployment);
  checkExecTimeout(deployment, { upstreamTimeout }, queues.get(queue) ?? upstreamTimeout);
}
