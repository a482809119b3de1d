import type { QueueTable } from "../core/queues/queue-table.ts";
import { pauseFor } from "../process/pause-for.ts";
import type { GatewayParts } from "./build-gateway.ts";

const usualBrokerPatience = 30_000;

/** Resolves when all declared queues are known, or have been waited for long enough; the watch goes on until the end. */
export async function watchQueues(
  { queues, brokerPatience = usualBrokerPatience, log }: Pick<GatewayParts, "queues" | "brokerPatience" | "log">,
  table: QueueTable,
  endings: (() => unknown)[],
): Promise<void> {
  const watching = queues.watch(table.observer);
  endings.push(() => void watching.then((end) => end()));
  const known = new AbortController();
  await Promise.race([watching.then(() => known.abort()), pauseFor(brokerPatience, known.signal)]);
  if (!known.signal.aborted)
    log.warn({ waited: brokerPatience }, "begins without the broker: refuses calls to be queued");
}
