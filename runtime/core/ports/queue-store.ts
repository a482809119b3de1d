import type { QueueDeclaration } from "./queue-catalog.ts";

/** Makes and mends what queues lie in; only the doctor holds it. */
export interface QueueStore {
  /**
   * Creates what is missing for these queues, updates what differs, removes nothing. Repeatable.
   * @throws PlatformError `queue_unavailable` when the broker cannot be reached or refuses
   */
  provision(queues: readonly QueueDeclaration[]): Promise<void>;
  /**
   * Updates what differs, but creates no store of calls: one that went away took its calls with it, and an empty one in
   * its place would hide that.
   * @throws PlatformError `queue_unavailable`, naming what is missing, or when the broker cannot be reached or refuses
   */
  maintain(queues: readonly QueueDeclaration[]): Promise<void>;
}
