import type { QueueDeclaration } from "./queue-catalog.ts";

/** Makes and mends what queues lie in; only the doctor holds it. */
export interface QueueStore {
  /**
   * Creates what is missing for these queues, updates what differs, removes nothing. Repeatable.
   * @throws PlatformError `queue_unavailable` when the broker cannot be reached or refuses
   */
  provision(queues: readonly QueueDeclaration[]): Promise<void>;
}
