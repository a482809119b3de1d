import type { Leases } from "../../../runtime/core/ports/leases.ts";
import { realClock, type MemoryClock } from "./memory-clock.ts";

/** Keeps leases in this process. */
export class MemoryLeases implements Leases {
  readonly #held = new Map<string, { readonly holder: string; readonly until: number }>();
  readonly #clock: Pick<MemoryClock, "now">;

  constructor(clock: Pick<MemoryClock, "now"> = realClock) {
    this.#clock = clock;
  }

  async acquire(name: string, holder: string, duration: number): Promise<boolean> {
    const now = this.#clock.now();
    const held = this.#held.get(name);
    if (held !== undefined && held.holder !== holder && held.until > now) return false;
    this.#held.set(name, { holder, until: now + duration });
    return true;
  }

  async release(name: string, holder: string): Promise<void> {
    if (this.#held.get(name)?.holder === holder) this.#held.delete(name);
  }
}
