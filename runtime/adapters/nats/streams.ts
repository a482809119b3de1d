import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "@nats-io/jetstream";

import { messageRoom } from "../../api/broker/nats-server-options.ts";
import type { QueueDeclaration } from "../../core/ports/queue-catalog.ts";
import { bucket, bucketStream, callbackStream, deadLetterStream, queueStream } from "./stream-names.ts";

/** A stream as it shall be. */
export type WantedStream = Partial<StreamConfig> & { readonly name: string };

/** What the sizes of all streams follow from. Bytes, milliseconds, counts. */
export interface StreamFacts {
  /** What the broker may store in all. */
  readonly maxFileStore: number;
  /** Largest body of a call. */
  readonly payloadLimit: number;
  readonly maxCallRecords: number;
  /** 1 or 3. */
  readonly replicas: number;
  /** Also the buckets that hold functions and endpoints, which Kubernetes holds elsewhere. */
  readonly oneMachine: boolean;
}

/** Metadata of bucket `calls`: bytes that its records may take, and bytes the broker may store in all. */
export const shareKey = "weir.share";
export const storeKey = "weir.store";

const mebibyte = 1_048_576;
const callsPercent = 10;
/** Bytes of the usual record of a call; one is no larger than 8 KiB (`boundedAttempts`). */
const usualRecord = 1_024;
const second = 1_000_000_000;
const longestPerFunction = 100_000;
const deadLetterAge = 14 * 24 * 3_600 * second;
const duplicateWindow = 120 * second;

/** How many calls can be there at a time, ended ones whose records are kept included. */
export function mostCalls(facts: Pick<StreamFacts, "maxFileStore" | "maxCallRecords">): number {
  const share = Math.floor((facts.maxFileStore * callsPercent) / 100);
  return Math.min(facts.maxCallRecords, Math.floor(share / usualRecord));
}

/**
 * All streams of a platform with these queues. Their shares of the store add up to 80 %: `calls` 10 %, `results` 5 %
 * up to 1 GiB, `DLQ` 10 % up to 1 GiB, `CB` 5 % up to 256 MiB, the rest equally to the queues and to `left` others that
 * are declared no more but hold calls. Functions, namespaces,
 * endpoints and declared queues take at most 12 % more.
 */
export function wantedStreams(facts: StreamFacts, queues: readonly QueueDeclaration[], left = 0): WantedStream[] {
  const share = (percent: number, most = Number.POSITIVE_INFINITY) =>
    Math.floor(Math.min((facts.maxFileStore * percent) / 100, most));
  const sizes = {
    calls: share(callsPercent),
    results: share(5, 1_024 * mebibyte),
    dead: share(10, 1_024 * mebibyte),
    callbacks: share(5, 256 * mebibyte),
  };
  const taken = sizes.calls + sizes.results + sizes.dead + sizes.callbacks;
  const perQueue = Math.floor((share(80) - taken) / Math.max(1, queues.length + left));
  const messageSize = facts.payloadLimit + messageRoom;
  const file = { storage: StorageType.File, num_replicas: facts.replicas };

  const work = (name: string, subject: string, maxMessages: number, maxBytes: number): WantedStream => ({
    ...file,
    name,
    subjects: [subject],
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    max_msgs: maxMessages,
    max_bytes: maxBytes,
    max_msgs_per_subject: Math.min(longestPerFunction, maxMessages),
    discard_new_per_subject: true,
    max_msg_size: messageSize,
    duplicate_window: duplicateWindow,
  });

  return [
    ...queues.map((queue) => work(queueStream(queue.name), `q.${queue.name}.*.*`, queue.maxLength, perQueue)),
    work(callbackStream, "cb.*.*.*", 1_000_000, sizes.callbacks),
    {
      ...file,
      name: deadLetterStream,
      subjects: ["dlq.*.*.*"],
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_bytes: sizes.dead,
      max_age: deadLetterAge,
      max_msgs_per_subject: 1,
      max_msg_size: messageSize,
      duplicate_window: duplicateWindow,
    },
    {
      ...keyValue(bucket.calls, file),
      allow_msg_ttl: true,
      // Of a bucket that is full by bytes not even the records that are there can be written any more, so nothing could
      // end: the number bites first, and who accepts calls looks at the bytes.
      max_msgs: mostCalls(facts),
      allow_direct: false,
      metadata: { [shareKey]: String(sizes.calls), [storeKey]: String(facts.maxFileStore) },
    },
    { ...keyValue(bucket.results, file), allow_msg_ttl: true, max_bytes: sizes.results, max_msg_size: messageSize },
    { ...keyValue(bucket.queues, file), allow_msg_ttl: true, max_bytes: share(1, mebibyte), allow_direct: false },
    ...(facts.oneMachine
      ? [
          { ...keyValue(bucket.functions, file), max_bytes: share(5, 64 * mebibyte), max_msg_size: 4 * mebibyte },
          { ...keyValue(bucket.namespaces, file), max_bytes: share(1, 16 * mebibyte) },
          { ...keyValue(bucket.endpoints, file), max_bytes: share(5, 64 * mebibyte) },
        ]
      : []),
  ];
}

/** A bucket with history 1 (NATS ADR-8), refusing new keys when full; writes to keys that are there still pass. */
function keyValue(name: string, file: Partial<StreamConfig>): WantedStream {
  return {
    ...file,
    name: bucketStream(name),
    subjects: [`$KV.${name}.>`],
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    max_msgs_per_subject: 1,
    allow_rollup_hdrs: true,
    deny_delete: true,
    allow_direct: true,
    duplicate_window: duplicateWindow,
  };
}
