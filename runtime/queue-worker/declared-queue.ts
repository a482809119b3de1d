import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../api/platform-error.ts";
import type { QueueCatalog, QueueDeclaration } from "../core/ports/queue-catalog.ts";

/** How to wait; durations in milliseconds. */
export interface DeclarationWait {
  readonly within: number;
  readonly every: number;
  /** Called once, when the declaration cannot be had at the first attempt. */
  readonly onWait: () => void;
}

/**
 * The declaration of a queue. On a fresh platform all processes start at once, so the queue-doctor gets `within` to
 * write it. While the catalog cannot be read the broker is not ready, which is waited for without limit.
 * @throws PlatformError `queue_not_found` when the catalog can be read and it is not declared in time
 */
export async function declaredQueue(
  catalog: Pick<QueueCatalog, "get">,
  name: string,
  { within, every, onWait }: DeclarationWait,
): Promise<QueueDeclaration> {
  let readableSince: number | undefined;
  for (let attempts = 0; ; attempts += 1) {
    const found = await catalog.get(name).catch(() => "unreadable" as const);
    if (found === "unreadable") readableSince = undefined;
    else if (found !== undefined) return found;
    else readableSince ??= performance.now();
    if (readableSince !== undefined && performance.now() >= readableSince + within) {
      const sentence = `Cannot work on queue "${name}": it is not declared; is the queue-doctor running?`;
      throw new PlatformError("queue_not_found", sentence);
    }
    if (attempts === 0) onWait();
    await pause(every);
  }
}
