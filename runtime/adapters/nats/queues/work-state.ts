import type { ConsumerInfo, StreamInfo } from "@nats-io/jetstream";

import type { WorkState } from "../../../core/ports/queue-store.ts";
import { madeUnder } from "./consumers.ts";
import type { NatsLink } from "../link/nats-link.ts";

/**
 * Reads the state of a work queue and its one consumer. Entries come and go between the requests, so the consumer is
 * read before and after the stream, and only entries that neither reading accounts for count as orphans.
 */
export async function lookAtWork(
  link: NatsLink,
  queue: string | undefined,
  stream: string,
  consumer: string,
): Promise<WorkState> {
  const { streams, consumers } = link.jsm;
  const before = await consumers.info(stream, consumer);
  const { state } = await streams.info(stream);
  const after = await consumers.info(stream, consumer);
  return {
    queue,
    orphans: Math.max(0, Math.min(unaccounted(state, before), unaccounted(state, after))),
    unanswered: after.num_ack_pending,
    waitingWorkers: after.num_waiting,
    offers: after.delivered.consumer_seq,
    ackWait: (after.config.ack_wait ?? 0) / 1_000_000,
    current: after.config.metadata?.[madeUnder] === link.serverVersion,
    oldestAt: state.messages === 0 ? undefined : Date.parse(state.first_ts),
  };
}

function unaccounted(state: StreamInfo["state"], { num_pending, num_ack_pending }: ConsumerInfo): number {
  return state.messages - num_pending - num_ack_pending;
}
