import { AckPolicy, type ConsumerConfig } from "@nats-io/jetstream";

import type { NatsLink } from "./nats-link.ts";

/** Metadata of a consumer: version of the server under which it was made. */
export const madeUnder = "weir-server";

/**
 * The one durable pull consumer of a queue (or of the callbacks). `ackWait` in milliseconds. Redelivery is bounded by
 * the call record and never by the broker: leftovers of its own limits would come back without a count.
 */
export function consumerConfig(
  name: string,
  ackWait: number,
  serverVersion: string,
): Partial<ConsumerConfig> & { durable_name: string } {
  return {
    durable_name: name,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWait * 1_000_000,
    max_ack_pending: -1,
    max_deliver: -1,
    max_waiting: 512,
    metadata: { [madeUnder]: serverVersion },
  };
}

const consumerNotFound = 10014;

/** Adds the consumer if it is missing; one that is there stays as it is, whatever its settings. */
export async function addMissingConsumer(link: NatsLink, stream: string, name: string, ackWait: number): Promise<void> {
  try {
    await link.jsm.consumers.info(stream, name);
  } catch (err) {
    if (!isMissing(err)) throw err;
    await link.jsm.consumers.add(stream, consumerConfig(name, ackWait, link.serverVersion));
  }
}

/** Deletes the consumer; one that is gone already is no failure. */
export async function deleteConsumer(link: NatsLink, stream: string, name: string): Promise<void> {
  try {
    await link.jsm.consumers.delete(stream, name);
  } catch (err) {
    if (!isMissing(err)) throw err;
  }
}

function isMissing(err: unknown): boolean {
  return err instanceof Error && "code" in err && err.code === consumerNotFound;
}
