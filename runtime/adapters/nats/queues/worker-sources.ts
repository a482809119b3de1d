import type { QueuedCall } from "../../../core/calls/call.ts";
import type { DeliverySource } from "../../../core/ports/call-queue.ts";
import type { QueuedCallback } from "../../../core/ports/callback-queue.ts";
import { parseCall } from "./call-message.ts";
import { addMissingConsumer } from "./consumers.ts";
import { parseCallback } from "./callback-message.ts";
import { NatsDeliverySource } from "./nats-delivery-source.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { callbacksConsumer, callbackStream, queueStream, workersConsumer } from "../stream-names.ts";

/**
 * The source of calls for a worker of `queue`. `ackWait` is the lease of a call, `expiry` that of one pull
 * request at the broker; milliseconds.
 */
export function callSource(
  link: NatsLink,
  queue: string,
  ackWait: number,
  inboxPrefix: string,
  expiry?: number,
): DeliverySource<QueuedCall> {
  const stream = queueStream(queue);
  return new NatsDeliverySource({
    link,
    stream,
    consumer: workersConsumer,
    queue,
    inboxPrefix,
    expiry,
    parse: (headers, body) => parseCall(queue, headers, body),
    addConsumer: () => addMissingConsumer(link, stream, workersConsumer, ackWait),
  });
}

/** The source of callbacks for workers of all queues. */
export function callbackSource(
  link: NatsLink,
  queue: string,
  ackWait: number,
  inboxPrefix: string,
): DeliverySource<QueuedCallback> {
  return new NatsDeliverySource({
    link,
    stream: callbackStream,
    consumer: callbacksConsumer,
    queue,
    inboxPrefix,
    parse: parseCallback,
    addConsumer: () => addMissingConsumer(link, callbackStream, callbacksConsumer, ackWait),
  });
}
