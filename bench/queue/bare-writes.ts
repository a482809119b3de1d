// The peer of P6 and P8: only the two writes that accept a call (G2, G3), into the streams that Weir uses, by requests
// of the client library as in P7.
import { randomUUID } from "node:crypto";

import { headers, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";

import type { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import {
  bucket,
  bucketStream,
  keySubject,
  queueStream,
  queueSubject,
} from "../../runtime/adapters/nats/stream-names.ts";
import { sampleCall, sampleEntry } from "../../test/contract/samples.ts";
import { benchFunction } from "./bench-platform.ts";

const queue = "default";
const timeout = 5_000;
/** As long as the record of a newly accepted call. */
const record = Buffer.from(
  JSON.stringify(
    sampleEntry({ digest: "x".repeat(43) }, sampleCall({ queue, function: benchFunction, callbackUrl: undefined })),
  ),
);
const subject = queueSubject(queue, benchFunction);

/** Creates the record of a new call, then publishes the call; resolves when the broker has stored both. */
export async function writeBare(nc: NatsConnection, body: Uint8Array): Promise<void> {
  const id = randomUUID();
  const create = headers();
  create.set("Nats-TTL", "694800s");
  create.set("Nats-Expected-Last-Subject-Sequence", "0");
  await stored(nc, keySubject(bucket.calls, id), record, create);
  const publish = headers();
  publish.set("Nats-Msg-Id", id);
  await stored(nc, subject, body, publish);
}

/** Empties the streams that both sides write to, so neither starts with the other's messages. */
export async function emptyStreams(link: NatsLink): Promise<void> {
  for (const stream of [queueStream(queue), bucketStream(bucket.calls)]) await link.jsm.streams.purge(stream);
}

async function stored(nc: NatsConnection, to: string, payload: Uint8Array, head: MsgHdrs): Promise<void> {
  const reply = await nc.request(to, payload, { headers: head, timeout });
  const ack = reply.json<{ seq?: number; error?: { description: string } }>();
  if (ack.seq === undefined) throw new Error(ack.error?.description ?? "no acknowledgement");
}
