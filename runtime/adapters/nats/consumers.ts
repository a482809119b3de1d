import { AckPolicy, type ConsumerConfig } from "@nats-io/jetstream";

import type { NatsLink } from "./nats-link.ts";

/**
 * The one durable pull consumer of a queue (or of the callbacks). `ackWait` in milliseconds. Redelivery is bounded by
 * the call record and never by the broker: leftovers of its own limits would come back without a count.
 */
export function consumerConfig(name: string, ackWait: number): Partial<ConsumerConfig> & { durable_name: string } {
  return {
    durable_name: name,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWait * 1_000_000,
    max_ack_pending: -1,
    max_deliver: -1,
    max_waiting: 512,
  };
}

const consumerNotFound = 10014;

/** Adds the consumer if it is missing; one that is there stays as it is, whatever its settings. */
export async function addMissingConsumer(link: NatsLink, stream: string, name: string, ackWait: number): Promise<void> {
  try {
    await link.jsm.consumers.info(stream, name);
  } catch (err) {
    if (!(err instanceof Error) || !("code" in err) || err.code !== consumerNotFound) throw err;
    await link.jsm.consumers.add(stream, consumerConfig(name, ackWait));
  }
}
