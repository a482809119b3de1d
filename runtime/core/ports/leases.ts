/**
 * Lets one of several processes act.
 *
 * - `acquire` resolves with true if `holder` holds the lease now: it was free, over, or already its own.
 * - `acquire` rejects when it cannot be told: who held the lease then still does until it is over.
 * - A lease that is not acquired again within `duration` milliseconds is over. Time is judged by one clock, the store's.
 */
export interface Leases {
  acquire(name: string, holder: string, duration: number): Promise<boolean>;
  /** Drops the lease if `holder` holds it. */
  release(name: string, holder: string): Promise<void>;
}
