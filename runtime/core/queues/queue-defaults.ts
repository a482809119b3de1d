import { defaultQueue } from "../../api/names.ts";
import type { QueueDeclaration } from "../ports/queue-catalog.ts";

/** Statuses after which a call is retried (contract §2.1). */
export const retryCodes = [408, 429, 500, 502, 503, 504] as const;

/** Facts that the default queue is declared from. Durations are milliseconds. */
export interface QueueFacts {
  readonly replicas: number;
  readonly maxInflight: number;
  readonly timeout: number;
  readonly ackWait: number;
  readonly maxLength: number;
  readonly retryAttempts: number;
  readonly retryMinWait: number;
  readonly retryMaxWait: number;
}

/** The declaration of the queue that every platform has. */
export function declareDefaultQueue(facts: QueueFacts): QueueDeclaration {
  return {
    name: defaultQueue,
    replicas: facts.replicas,
    maxInflight: facts.maxInflight,
    timeout: facts.timeout,
    ackWait: facts.ackWait,
    maxLength: facts.maxLength,
    strict: false,
    retry: {
      attempts: facts.retryAttempts,
      codes: retryCodes,
      minWait: facts.retryMinWait,
      maxWait: facts.retryMaxWait,
    },
  };
}
