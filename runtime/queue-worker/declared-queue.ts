import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../api/platform-error.ts";
import type { QueueCatalog, QueueDeclaration } from "../core/ports/queue-catalog.ts";

/** How it is waited; milliseconds. */
export interface DeclarationWait {
  readonly within: number;
  readonly every: number;
  /** Told once, when it is not there at the first look. */
  readonly onWait: () => void;
}

/**
 * The declaration of a queue. On a fresh platform all processes start at once: the queue-doctor has a while to write it.
 * @throws PlatformError `queue_not_found` when it is not declared in time; what the catalog said when it could not be read
 */
export async function declaredQueue(
  catalog: Pick<QueueCatalog, "get">,
  name: string,
  { within, every, onWait }: DeclarationWait,
): Promise<QueueDeclaration> {
  const end = performance.now() + within;
  for (let looks = 0; ; looks += 1) {
    const found = await catalog.get(name).catch((err: unknown) => {
      if (performance.now() >= end) throw err;
      return undefined;
    });
    if (found !== undefined) return found;
    if (performance.now() >= end) {
      const sentence = `Cannot work on queue "${name}": it is not declared; is the queue-doctor running?`;
      throw new PlatformError("queue_not_found", sentence);
    }
    if (looks === 0) onWait();
    await pause(every);
  }
}
