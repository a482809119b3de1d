import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "@nats-io/jetstream";

import { messageRoom } from "../../api/broker/nats-server-options.ts";
import type { QueueDeclaration } from "../../core/ports/queue-catalog.ts";
import { sessionLifetime } from "../../core/ports/session-store.ts";
import { auditStreams } from "./audit/audit-streams.ts";
import { bucket, bucketStream, callbackStream, deadLetterStream, queueStream } from "./stream-names.ts";

/** Desired configuration of a stream. */
export type WantedStream = Partial<StreamConfig> & { readonly name: string };

/** Inputs from which the sizes of all streams are computed; bytes and counts. */
export interface StreamFacts {
  /** Bytes the broker may store in total. */
  readonly maxFileStore: number;
  /** Largest body of a call. */
  readonly payloadLimit: number;
  readonly maxCallRecords: number;
  /** 1 or 3. */
  readonly replicas: number;
  /** Adds the buckets for functions, namespaces and endpoints, which Kubernetes keeps elsewhere. */
  readonly oneMachine: boolean;
}

/** Metadata keys of bucket `calls`: bytes that its records may take, and bytes the broker may store in total. */
export const shareKey = "weir.share";
export const storeKey = "weir.store";

const mebibyte = 1_048_576;
const callsPercent = 10;
/** Typical size of a call record, bytes; the maximum is 8 KiB (`boundedAttempts`). */
const typicalRecordSize = 1_024;
const second = 1_000_000_000;
const maxPerFunction = 100_000;
const deadLetterMaxAge = 14 * 24 * 3_600 * second;
const duplicateWindow = 120 * second;

/** Most calls that can exist at once, including ended ones whose records are kept. */
export function mostCalls(facts: Pick<StreamFacts, "maxFileStore" | "maxCallRecords">): number {
  const share = Math.floor((facts.maxFileStore * callsPercent) / 100);
  return Math.min(facts.maxCallRecords, Math.floor(share / typicalRecordSize));
}

/**
 * All streams of a platform with these queues. Their shares of the store add up to 80 %: `calls` 10 %, `results` 5 %
 * up to 1 GiB, `DLQ` 10 % up to 1 GiB, `CB` 5 % up to 256 MiB, `requests` 10 % up to 1 GiB. The rest is split equally
 * among the queues and `undeclared` others, which are no longer declared but still exist. Functions, namespaces, endpoints and declared
 * queues take at most 12 % more, sessions 1 %, the audit trail 2 %.
 */
export function wantedStreams(facts: StreamFacts, queues: readonly QueueDeclaration[], undeclared = 0): WantedStream[] {
  const share = (percent: number, max = Number.POSITIVE_INFINITY) =>
    Math.floor(Math.min((facts.maxFileStore * percent) / 100, max));
  const sizes = {
    calls: share(callsPercent),
    results: share(5, 1_024 * mebibyte),
    dead: share(10, 1_024 * mebibyte),
    callbacks: share(5, 256 * mebibyte),
    requests: share(10, 1_024 * mebibyte),
  };
  const taken = sizes.calls + sizes.results + sizes.dead + sizes.callbacks + sizes.requests;
  const perQueue = Math.floor((share(80) - taken) / Math.max(1, queues.length + undeclared));
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
    max_msgs_per_subject: Math.min(maxPerFunction, maxMessages),
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
      max_age: deadLetterMaxAge,
      max_msgs_per_subject: 1,
      max_msg_size: messageSize,
      duplicate_window: duplicateWindow,
    },
    {
      ...keyValue(bucket.calls, file),
      allow_msg_ttl: true,
      // A bucket that is full by bytes refuses even updates of existing records, so no call could end. The message
      // limit must be reached first; gateways check the bytes before they accept a call.
      max_msgs: mostCalls(facts),
      allow_direct: false,
      metadata: { [shareKey]: String(sizes.calls), [storeKey]: String(facts.maxFileStore) },
    },
    { ...keyValue(bucket.results, file), allow_msg_ttl: true, max_bytes: sizes.results, max_msg_size: messageSize },
    {
      ...keyValue(bucket.requests, file),
      allow_msg_ttl: true,
      discard: DiscardPolicy.Old,
      max_bytes: sizes.requests,
      max_msg_size: messageSize,
      // Gateways delete single entries, which needs no right to write any; nobody needs to replace all by one.
      deny_delete: false,
      allow_rollup_hdrs: false,
    },
    { ...keyValue(bucket.queues, file), allow_msg_ttl: true, max_bytes: share(1, mebibyte), allow_direct: false },
    {
      ...keyValue(bucket.sessions, file),
      max_bytes: share(1, 16 * mebibyte),
      max_msg_size: 65_536,
      max_age: sessionLifetime * 1_000_000,
    },
    ...auditStreams(facts.maxFileStore, facts.replicas),
    ...(facts.oneMachine
      ? [
          { ...keyValue(bucket.functions, file), max_bytes: share(5, 64 * mebibyte), max_msg_size: 4 * mebibyte },
          { ...keyValue(bucket.namespaces, file), max_bytes: share(1, 16 * mebibyte) },
          { ...keyValue(bucket.endpoints, file), max_bytes: share(5, 64 * mebibyte) },
        ]
      : []),
  ];
}

/** A bucket with history 1 (NATS ADR-8). When full by messages it refuses new keys, but not writes to existing ones. */
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
