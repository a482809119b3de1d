import { editionNames, editions, type Edition } from "../api/editions.ts";
import type { FunctionDeployment } from "../api/function-deployment.ts";
import { defaultQueue } from "../api/names.ts";
import { PlatformError } from "../api/platform-error.ts";
import { functionLimits } from "./function-limits.ts";

/**
 * Checks what the edition allows (contract §1.5): a queue other than the default one.
 * @throws PlatformError `edition_limit`; `not_built` where the edition has named queues
 */
export function checkDeploymentEdition(deployment: FunctionDeployment, edition: Edition): void {
  const { queue } = functionLimits(deployment);
  if (queue === defaultQueue) return;
  if (editions[edition].queues === "named") {
    throw new PlatformError("not_built", `Cannot use queue "${queue}": named queues are not built yet`);
  }
  const needed = editionNames.find((name) => editions[name].queues === "named") ?? "enterprise";
  throw new PlatformError(
    "edition_limit",
    `Cannot use queue "${queue}": edition "${edition}" has only "${defaultQueue}", others need edition "${needed}"`,
  );
}
