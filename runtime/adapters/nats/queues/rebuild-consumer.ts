import { setTimeout as pause } from "node:timers/promises";

import { BrokerClock } from "../link/broker-clock.ts";
import { addMissingConsumer, deleteConsumer } from "./consumers.ts";
import type { NatsLink } from "../link/nats-link.ts";

const poll = 100;
/** The broker goes on by itself if we do not come back. */
const pauseMargin = 10_000;
/** Longest that the broker may be away between two steps. */
const awayWithin = 30_000;

/**
 * Deletes the consumer of a work queue and adds it again, so that all entries are offered anew. Before that it is paused
 * until what is on loan was answered or its lease has passed. A broker that is restarted meanwhile keeps the pause: what
 * was begun is ended, as beginning again would pause the queue once more, and for ever if restarts are frequent.
 */
export async function rebuildConsumer(link: NatsLink, stream: string, name: string, stop: AbortSignal): Promise<void> {
  const { consumers } = link.jsm;
  const { config } = await consumers.info(stream, name);
  const ackWait = (config.ack_wait ?? 0) / 1_000_000;
  const clock = new BrokerClock(link, stream);
  await clock.known();
  await consumers.pause(stream, name, new Date(clock.now() + ackWait + pauseMargin));
  const until = performance.now() + ackWait;
  while (performance.now() < until && (await mayBeOnLoan(link, stream, name))) {
    await pause(poll);
    if (!stop.aborted) continue;
    await consumers.resume(stream, name);
    return;
  }
  await persist(() => deleteConsumer(link, stream, name), stop);
  await persist(() => addMissingConsumer(link, stream, name, ackWait), stop);
}

/** Also true while the broker does not answer. */
async function mayBeOnLoan(link: NatsLink, stream: string, name: string): Promise<boolean> {
  try {
    return (await link.jsm.consumers.info(stream, name)).num_ack_pending > 0;
  } catch {
    return true;
  }
}

async function persist(act: () => Promise<void>, stop: AbortSignal): Promise<void> {
  for (const until = performance.now() + awayWithin; ;) {
    try {
      await act();
      return;
    } catch (err) {
      if (stop.aborted || performance.now() >= until) throw err;
      await pause(poll);
    }
  }
}
