import { DeliverPolicy, type JsMsg, type PushConsumer } from "@nats-io/jetstream";

import type { NatsLink } from "../link/nats-link.ts";
import { bucketStream, keySubject } from "../stream-names.ts";

/**
 * The last message of each key of a bucket that matches `filter`, without removal markers. It deletes its consumer; the
 * client's own `history()` leaves one behind for five minutes, and a stream with a thousand of them can no longer be
 * listed or watched.
 */
export async function listBucket(link: NatsLink, name: string, filter: string): Promise<readonly JsMsg[]> {
  const consumer = await link.js.consumers.getPushConsumer(bucketStream(name), {
    deliver_policy: DeliverPolicy.LastPerSubject,
    filter_subjects: keySubject(name, filter),
  });
  try {
    return (await lastMessages(consumer)).filter((message) => !isMarker(message));
  } finally {
    // If this fails, the broker removes it after five minutes.
    await consumer.delete().catch(() => {});
  }
}

/** Headers are parsed on access; markers have no value, so only messages without one pay for that. */
function isMarker(message: JsMsg): boolean {
  if (message.data.length > 0) return false;
  const { headers } = message;
  return headers?.has("KV-Operation") === true || headers?.has("Nats-Marker-Reason") === true;
}

async function lastMessages(consumer: PushConsumer): Promise<readonly JsMsg[]> {
  const found: JsMsg[] = [];
  const { num_pending: expected } = await consumer.info(true);
  if (expected === 0) return found;
  const messages = await consumer.consume();
  void (async () => {
    // A heartbeat means that nothing is left to send: counted messages were removed meanwhile.
    for await (const { type } of messages.status()) if (type === "heartbeat") messages.stop();
  })();
  for await (const message of messages) {
    found.push(message);
    // Parsing `info` is slow, so the count is compared first.
    if (found.length >= expected && message.info.pending === 0) break;
  }
  messages.stop();
  return found;
}
