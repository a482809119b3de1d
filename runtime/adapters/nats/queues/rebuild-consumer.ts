import { setTimeout as pause } from "node:timers/promises";

import { BrokerClock } from "../link/broker-clock.ts";
import { addMissingConsumer, deleteConsumer } from "./consumers.ts";
import type { NatsLink } from "../link/nats-link.ts";

const poll = 100;
/** Milliseconds after the lease at which the broker resumes the consumer itself, should this process not do so. */
const pauseMargin = 10_000;
/** Longest outage of the broker between two steps, milliseconds. */
const longestOutage = 30_000;

/**
 * Deletes the consumer of a work queue and adds it again, so that all entries are delivered again. Before that it is
 * paused until all deliveries are settled or their lease has ended. A broker that restarts meanwhile keeps the pause,
 * so the rebuild is carried through: starting over would pause the queue again, without end if restarts are frequent.
 */
export async function rebuildConsumer(link: NatsLink, stream: string, name: string, stop: AbortSignal): Promise<void> {
  const { consumers } = link.jsm;
  const { config } = await consumers.info(stream, name);
  const ackWait = (config.ack_wait ?? 0) / 1_000_000;
  const clock = new BrokerClock(link, stream);
  await clock.known();
  await consumers.pause(stream, name, new Date(clock.now() + ackWait + pauseMargin));
  const until = performance.now() + ackWait;
  while (performance.now() < until && (await mayHaveUnsettled(link, stream, name))) {
    await pause(poll);
    if (!stop.aborted) continue;
    await consumers.resume(stream, name);
    return;
  }
  await retry(() => deleteConsumer(link, stream, name), stop);
  await retry(() => addMissingConsumer(link, stream, name, ackWait), stop);
}

/** Also true while the broker does not reply. */
async function mayHaveUnsettled(link: NatsLink, stream: string, name: string): Promise<boolean> {
  try {
    return (await link.jsm.consumers.info(stream, name)).num_ack_pending > 0;
  } catch {
    return true;
  }
}

async function retry(act: () => Promise<void>, stop: AbortSignal): Promise<void> {
  for (const until = performance.now() + longestOutage; ;) {
    try {
      await act();
      return;
    } catch (err) {
      if (stop.aborted || performance.now() >= until) throw err;
      await pause(poll);
    }
  }
}
