import { networkOf } from "./client-network.ts";

/** Bounds the connections that one client may have at a time, so that none locks others out (`security.md` §2). */
export class ClientLimit {
  readonly #maxConnections: number;
  readonly #isExempt: (address: string) => boolean;
  readonly #counts = new Map<string, number>();

  /** At most `maxConnections` per client, 0 = any number; those of exempt addresses are not counted. */
  constructor(maxConnections: number, isExempt: (address: string) => boolean) {
    this.#maxConnections = maxConnections;
    this.#isExempt = isExempt;
  }

  /**
   * Counts a connection from `address`. Returns the function that releases it, or undefined if it is over the limit.
   */
  take(address: string): (() => void) | undefined {
    if (this.#maxConnections === 0 || this.#isExempt(address)) return () => {};
    const client = networkOf(address);
    const count = this.#counts.get(client) ?? 0;
    if (count >= this.#maxConnections) return undefined;
    this.#counts.set(client, count + 1);
    return () => this.#release(client);
  }

  #release(client: string): void {
    const left = (this.#counts.get(client) ?? 1) - 1;
    if (left === 0) this.#counts.delete(client);
    else this.#counts.set(client, left);
  }
}
