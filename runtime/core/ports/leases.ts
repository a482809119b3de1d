/**
 * Leases for leader election.
 *
 * - `acquire` resolves with true if `holder` holds the lease now: it was free, expired, or already its own.
 * - `acquire` rejects when that is unknown: the previous holder then keeps the lease until it expires.
 * - A lease expires when it is not acquired again within `duration` milliseconds, by one clock, the store's.
 */
export interface Leases {
  acquire(name: string, holder: string, duration: number): Promise<boolean>;
  /** Releases the lease if `holder` holds it. */
  release(name: string, holder: string): Promise<void>;
}
