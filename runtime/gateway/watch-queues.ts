import type { QueueCatalog } from "../core/ports/queue-catalog.ts";
import type { QueueTable } from "../core/queues/queue-table.ts";
import type { Log } from "../process/log.ts";
import { pauseFor } from "../process/pause-for.ts";

const usualBrokerPatience = 30_000;

/** Resolves when all declared queues are known, or have been waited for long enough; the watch goes on until the end. */
export async function watchQueues(
  parts: {
    readonly queues: Pick<QueueCatalog, "watch">;
    /** Milliseconds. */
    readonly brokerPatience?: number | undefined;
    readonly log: Log;
  },
  table: QueueTable,
  endings: (() => unknown)[],
): Promise<void> {
  const { queues, brokerPatience = usualBrokerPatience, log } = parts;
  const watching = queues.watch(table.observer);
  endings.push(() => void watching.then((end) => end()));
  const known = new AbortController();
  await Promise.race([watching.then(() => known.abort()), pauseFor(brokerPatience, known.signal)]);
  if (!known.signal.aborted)
    log.warn({ waited: brokerPatience }, "starting without the broker: refuses calls to be queued");
}
