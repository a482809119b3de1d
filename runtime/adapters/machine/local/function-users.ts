import { createHash } from "node:crypto";

import { PlatformError } from "../../../api/platform-error.ts";
import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { UserBlock } from "./user-blocks.ts";

/**
 * Gives each function its own user (uid and gid are the same number): derived from its name, unique as long as it is
 * held, and from a block that no other Weir of this machine has.
 */
export class FunctionUsers {
  readonly #takeBlock: () => Promise<UserBlock | undefined>;
  readonly #blocks: UserBlock[] = [];
  readonly #held = new Map<string, number>();
  #last: Promise<unknown> = Promise.resolve();

  /** `takeBlock` returns a free block, or undefined when all are taken. */
  constructor(takeBlock: () => Promise<UserBlock | undefined>) {
    this.#takeBlock = takeBlock;
  }

  /** @throws PlatformError `provider_unavailable` when every user is taken */
  hold(ref: FunctionRef): Promise<number> {
    // One at a time: two at once could get the same user.
    const user = this.#last.then(() => this.#hold(formatRef(ref)));
    this.#last = user.catch(() => {});
    return user;
  }

  release(ref: FunctionRef): void {
    this.#held.delete(formatRef(ref));
  }

  async close(): Promise<void> {
    await this.#last;
    await Promise.all(this.#blocks.splice(0).map((block) => block.release()));
  }

  async #hold(key: string): Promise<number> {
    const user = this.#held.get(key) ?? this.#free(key);
    if (user !== undefined) {
      this.#held.set(key, user);
      return user;
    }
    const block = await this.#takeBlock();
    if (block === undefined) {
      throw new PlatformError(
        "provider_unavailable",
        `Cannot run function "${key}": all users for functions of this machine are taken`,
      );
    }
    this.#blocks.push(block);
    return this.#hold(key);
  }

  #free(key: string): number | undefined {
    const taken = new Set(this.#held.values());
    const preferred = createHash("sha256").update(key).digest().readUInt32BE(0);
    for (const { first, count } of this.#blocks) {
      for (let step = 0; step < count; step += 1) {
        const user = first + ((preferred + step) % count);
        if (!taken.has(user)) return user;
      }
    }
    return undefined;
  }
}
