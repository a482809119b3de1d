import { editions, type Edition } from "../api/editions.ts";
import type { QueueDeclaration } from "../core/ports/queue-catalog.ts";
import { declareDefaultQueue } from "../core/queue-defaults.ts";
import type { QueueFactSettings } from "./settings.ts";

/**
 * The queues that the settings declare.
 * @throws Error with a sentence when they go beyond the edition
 */
export function declareQueues(settings: QueueFactSettings): readonly QueueDeclaration[] {
  checkEdition(settings.edition, settings.maxInflight);
  return [
    declareDefaultQueue({
      replicas: settings.queueWorkers,
      maxInflight: settings.maxInflight,
      timeout: settings.upstreamTimeout,
      ackWait: settings.ackWait,
      maxLength: settings.maxLength,
      retryAttempts: settings.retryAttempts,
      retryMinWait: settings.retryMinWait,
      retryMaxWait: settings.retryMaxWait,
    }),
  ];
}

function checkEdition(edition: Edition, maxInflight: number): void {
  if (editions[edition].maxInflight === "custom" || maxInflight === 1) return;
  throw new Error(
    `Cannot start with max_inflight ${maxInflight}: edition "${edition}" allows 1, more need edition "pro"`,
  );
}
