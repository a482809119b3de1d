import { networkOf } from "./client-network.ts";

/** Bounds how many connections one client may have at a time, so that none locks the others out (`security.md` §2). */
export class ClientLimit {
  readonly #most: number;
  readonly #isExempt: (address: string) => boolean;
  readonly #counts = new Map<string, number>();

  /** `most` connections each, 0 = any number; those of exempt addresses are not counted. */
  constructor(most: number, isExempt: (address: string) => boolean) {
    this.#most = most;
    this.#isExempt = isExempt;
  }

  /** Counts a connection from `address`. Gives what ends that, or undefined when it is one too many. */
  take(address: string): (() => void) | undefined {
    if (this.#most === 0 || this.#isExempt(address)) return () => {};
    const client = networkOf(address);
    const count = this.#counts.get(client) ?? 0;
    if (count >= this.#most) return undefined;
    this.#counts.set(client, count + 1);
    return () => this.#release(client);
  }

  #release(client: string): void {
    const left = (this.#counts.get(client) ?? 1) - 1;
    if (left === 0) this.#counts.delete(client);
    else this.#counts.set(client, left);
  }
}
