import { editionNames, editions, type Edition } from "../../api/editions.ts";
import { defaultQueue } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";

/** The smallest edition that has queues in addition to the default one. */
export const editionWithQueues: Edition =
  editionNames.find((name) => editions[name].queues === "named") ?? "enterprise";

/**
 * Checks that functions of this edition may use the queue (contract §1.5), at deploy and at use.
 * @throws PlatformError `edition_limit`, naming the edition needed
 */
export function checkQueueEdition(queue: string, edition: Edition): void {
  if (queue === defaultQueue || editions[edition].queues === "named") return;
  throw new PlatformError(
    "edition_limit",
    `Cannot use queue "${queue}": edition "${edition}" has only "${defaultQueue}", others need edition "${editionWithQueues}"`,
  );
}
