import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "@nats-io/jetstream";

import { auditStream, auditSubject } from "../stream-names.ts";

const mebibyte = 1_048_576;
/** Of the store, for both streams; changes get two thirds of it. */
const sharePercent = 2;
const maxBytes = { change: 512 * mebibyte, refusal: 256 * mebibyte };
const maxAge = 14 * 24 * 3_600 * 1_000_000_000;
/** Bytes of one record: what `auditRecord` allows, every character escaped, is less. */
const maxRecordSize = 65_536;
const duplicateWindow = 120 * 1_000_000_000;

/**
 * The streams of the audit trail. The broker limits bytes by stream only and drops the oldest message whatever its
 * subject, so refusals have a stream of their own: no number of them pushes a change out.
 */
export function auditStreams(maxFileStore: number, replicas: number): (Partial<StreamConfig> & { name: string })[] {
  const third = (maxFileStore * sharePercent) / 100 / 3;
  const stream = (kind: keyof typeof auditStream, share: number) => ({
    name: auditStream[kind],
    subjects: [auditSubject[kind]],
    storage: StorageType.File,
    num_replicas: replicas,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_bytes: Math.floor(Math.min(share, maxBytes[kind])),
    max_age: maxAge,
    max_msg_size: maxRecordSize,
    duplicate_window: duplicateWindow,
    allow_direct: true,
    deny_delete: true,
    deny_purge: true,
  });
  return [stream("change", 2 * third), stream("refusal", third)];
}
