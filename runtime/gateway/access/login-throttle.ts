import { networkOf } from "../edge/client-network.ts";

const maxWrong = 20;
const window = 60_000;
const capacity = 10_000;

/** Counts wrong credentials per address: after 20 within a minute the address is refused for the rest of it. */
export class LoginThrottle {
  readonly #now: () => number;
  /** In the order in which the windows began. */
  readonly #windows = new Map<string, { readonly start: number; wrong: number }>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Milliseconds until `address` may try again; 0 = now. */
  waitOf(address: string): number {
    const found = this.#windows.get(networkOf(address));
    return found === undefined || found.wrong < maxWrong ? 0 : Math.max(0, found.start + window - this.#now());
  }

  /** Counts wrong credentials from `address`. */
  failed(address: string): void {
    const key = networkOf(address);
    const now = this.#now();
    const found = this.#windows.get(key);
    if (found !== undefined && now < found.start + window) {
      found.wrong += 1;
      return;
    }
    this.#windows.delete(key);
    if (this.#windows.size >= capacity) this.#dropOldest(now);
    this.#windows.set(key, { start: now, wrong: 1 });
  }

  #dropOldest(now: number): void {
    for (const [key, { start }] of this.#windows) {
      if (this.#windows.size < capacity && now < start + window) return;
      this.#windows.delete(key);
    }
  }
}
