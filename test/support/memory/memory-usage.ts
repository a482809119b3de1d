import { formatRef, type FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import type { FunctionUsage, Usage } from "../../../runtime/core/ports/usage.ts";

/** Returns the usage that was set. */
export class MemoryUsage implements Usage {
  readonly #used = new Map<string, FunctionUsage>();

  set(ref: FunctionRef, used: FunctionUsage): void {
    this.#used.set(formatRef(ref), used);
  }

  /** The function no longer runs. */
  remove(ref: FunctionRef): void {
    this.#used.delete(formatRef(ref));
  }

  async of(ref: FunctionRef): Promise<FunctionUsage | undefined> {
    return this.#used.get(formatRef(ref));
  }
}
