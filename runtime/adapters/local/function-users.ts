import { createHash } from "node:crypto";

import { PlatformError } from "../../api/platform-error.ts";
import { formatRef, type FunctionRef } from "../../core/function-ref.ts";

/** The range that systems leave to users made for a while. */
const first = 61_184;
const last = 65_519;

/**
 * Gives each function a user of its own (uid and gid are the same number): derived from its name, and no other
 * function's as long as it is held.
 */
export class FunctionUsers {
  readonly #held = new Map<string, number>();

  /** @throws PlatformError `provider_unavailable` when every user is taken */
  hold(ref: FunctionRef): number {
    const key = formatRef(ref);
    const held = this.#held.get(key);
    if (held !== undefined) return held;
    const taken = new Set(this.#held.values());
    const count = last - first + 1;
    const begin = createHash("sha256").update(key).digest().readUInt32BE(0) % count;
    for (let step = 0; step < count; step += 1) {
      const user = first + ((begin + step) % count);
      if (taken.has(user)) continue;
      this.#held.set(key, user);
      return user;
    }
    throw new PlatformError(
      "provider_unavailable",
      `Cannot run function "${key}": all ${count} users for functions are taken`,
    );
  }

  release(ref: FunctionRef): void {
    this.#held.delete(formatRef(ref));
  }
}
