import type { QueueCatalog } from "../core/ports/queue-catalog.ts";
import type { QueueTable } from "../core/queues/queue-table.ts";
import type { Log } from "../process/log.ts";
import { pauseFor } from "../process/pause-for.ts";

const defaultBrokerTimeout = 30_000;

/**
 * Resolves when all declared queues are known, or after `brokerPatience`; the watch lasts until `cleanups` are called.
 */
export async function watchQueues(
  parts: {
    readonly queues: Pick<QueueCatalog, "watch">;
    /** Milliseconds. */
    readonly brokerPatience?: number | undefined;
    readonly log: Log;
  },
  table: QueueTable,
  cleanups: (() => unknown)[],
): Promise<void> {
  const { queues, brokerPatience = defaultBrokerTimeout, log } = parts;
  const watching = queues.watch(table.observer);
  cleanups.push(() => void watching.then((end) => end()));
  const known = new AbortController();
  await Promise.race([watching.then(() => known.abort()), pauseFor(brokerPatience, known.signal)]);
  if (!known.signal.aborted)
    log.warn({ waited: brokerPatience }, "starting without the broker: asynchronous calls are refused");
}
