import type { Edition } from "../../api/editions.ts";
import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { checkQueueEdition } from "../queues/check-queue-edition.ts";
import { functionLimits } from "./function-limits.ts";

/**
 * Checks whether the edition allows a queue other than the default one (contract §1.5). Whether the queue is declared
 * is checked at each call.
 * @throws PlatformError `edition_limit`
 */
export function checkDeploymentEdition(deployment: FunctionDeployment, edition: Edition): void {
  checkQueueEdition(functionLimits(deployment).queue, edition);
}
