import { DeliverPolicy, type JsMsg, type PushConsumer } from "@nats-io/jetstream";

import type { NatsLink } from "../link/nats-link.ts";
import { bucketStream, keySubject } from "../stream-names.ts";

/**
 * The last message of each key of a bucket that matches `filter`, markers of what was removed left out. It leaves
 * nothing behind at the broker, as the client's own `history()` does for five minutes: a stream bears a thousand such
 * consumers, then nobody can list or watch it any more.
 */
export async function listBucket(link: NatsLink, name: string, filter: string): Promise<readonly JsMsg[]> {
  const consumer = await link.js.consumers.getPushConsumer(bucketStream(name), {
    deliver_policy: DeliverPolicy.LastPerSubject,
    filter_subjects: keySubject(name, filter),
  });
  try {
    return (await lastMessages(consumer)).filter((message) => !isMarker(message));
  } finally {
    // If that fails it is gone in five minutes.
    await consumer.delete().catch(() => {});
  }
}

/** Markers have no value: headers are parsed, which happens when they are read, for those alone. */
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
    // Nothing is left to be sent: what was counted was removed meanwhile.
    for await (const { type } of messages.status()) if (type === "heartbeat") messages.stop();
  })();
  for await (const message of messages) {
    found.push(message);
    // What a message says of those behind it takes a while to read.
    if (found.length >= expected && message.info.pending === 0) break;
  }
  messages.stop();
  return found;
}
